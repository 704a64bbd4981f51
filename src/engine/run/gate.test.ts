/** When operations may start, and when a run stands still: the invariants G1 to G5 of gate.ts, one by one. */
import { describe, expect, it } from 'vitest'
import type { PauseMode } from '../../core/suspension.ts'
import { type Signal, signal } from '../test-support/engine-harness.ts'
import { Gate, type Scope } from './gate.ts'

const nowhere: Scope = {}
const inTurn: Scope = { turn: {} }
const inStep: Scope = { inside: {} }

function gateWith(
  some: { withheld?: () => number; unsettled?: () => number; slot?: () => boolean } = {},
): {
  gate: Gate
  moves: () => number
} {
  let moves = 0
  const gate = new Gate({
    withheld: some.withheld ?? (() => 0),
    unsettled: some.unsettled ?? (() => 0),
    checkBoundary: () => {
      moves++
    },
    slot: { ask: some.slot ?? (() => true), take: () => undefined },
    pace: { next: () => undefined },
  })
  return { gate, moves: () => moves }
}

/** An operation that is inside from when it is let in until the test ends it. */
interface Held {
  readonly started: () => boolean
  end(): Promise<void>
}

function held(pass: (work: () => Promise<void>) => Promise<void>): Held {
  const over: Signal = signal()
  let started = false
  const passed = pass(() => {
    started = true
    return over.promise
  })
  return {
    started: () => started,
    async end() {
      over.fire()
      await passed
    },
  }
}

const operation = (gate: Gate, scope: Scope = nowhere): Held =>
  held((work) => gate.during(scope, work))
const stop = (gate: Gate): Held => held((work) => gate.duringStop(work))

/** Lets everything that may start do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const modes = ['interrupt_immediate', 'finish_step', 'wait_for_completion'] as const

describe('the gate', () => {
  it.each<[PauseMode, boolean, boolean]>([
    ['interrupt_immediate', false, false],
    ['finish_step', false, false],
    ['wait_for_completion', false, true],
  ])('G1: under %s only what the mode allows starts', (mode, outside, inside) => {
    const { gate } = gateWith()
    gate.pause(mode)
    expect(operation(gate, inStep).started()).toBe(true)
    expect(operation(gate, inTurn).started()).toBe(inside)
    expect(operation(gate, nowhere).started()).toBe(outside)
  })

  it('G1: once closed nothing starts, not even inside a step', () => {
    const { gate } = gateWith()
    gate.close()
    for (const scope of [nowhere, inTurn, inStep]) {
      expect(operation(gate, scope).started()).toBe(false)
    }
    expect(held((work) => gate.duringLast(work)).started()).toBe(false)
  })

  it('G2: no boundary while an operation is in flight', async () => {
    const { gate } = gateWith({ unsettled: () => 1 })
    const running = operation(gate)
    for (const mode of modes) expect(gate.atBoundary(mode)).toBe(false)
    await running.end()
    expect(gate.atBoundary('interrupt_immediate')).toBe(true)
    expect(gate.atBoundary('finish_step')).toBe(true)
  })

  it('G2: code that is in no call is a boundary for an interrupt alone', () => {
    const { gate } = gateWith()
    expect(gate.atBoundary('interrupt_immediate')).toBe(true)
    expect(gate.atBoundary('finish_step')).toBe(false)
    expect(gate.atBoundary('wait_for_completion')).toBe(false)
  })

  it('G2: wait_for_completion waits for open turns and for what is about to be handed out', async () => {
    let withheld = 0
    const { gate } = gateWith({ withheld: () => withheld })
    const turn = held((work) => gate.duringTurn(work))
    gate.pause('wait_for_completion')
    operation(gate)
    expect(gate.atBoundary('wait_for_completion')).toBe(false)
    withheld = 1
    await turn.end()
    expect(gate.atBoundary('wait_for_completion')).toBe(false)
    withheld = 0
    expect(gate.atBoundary('wait_for_completion')).toBe(true)
  })

  it('G3: a park waits until nothing is in flight, and nothing starts until it is over', async () => {
    const { gate } = gateWith()
    const first = operation(gate)
    const park = stop(gate)
    const step = operation(gate)
    expect([first, park, step].map((one) => one.started())).toEqual([true, false, false])
    await first.end()
    await settled()
    expect([park, step].map((one) => one.started())).toEqual([true, false])
    expect(operation(gate).started()).toBe(false)
    await park.end()
    await settled()
    expect(step.started()).toBe(true)
  })

  it('G3: a second park waits for the first', async () => {
    const { gate } = gateWith()
    const first = stop(gate)
    const second = stop(gate)
    expect([first, second].map((one) => one.started())).toEqual([true, false])
    gate.close()
    await first.end()
    await settled()
    expect(second.started()).toBe(false)
    gate.reopen()
    await settled()
    expect(second.started()).toBe(true)
  })

  it('G4: what was blocked starts in the order it came', async () => {
    const { gate } = gateWith()
    gate.close()
    const order: string[] = []
    for (const [name, scope] of [['a', nowhere] as const, ['b', inTurn] as const]) {
      void gate.during(scope, () => {
        order.push(name)
        return new Promise(() => undefined)
      })
    }
    gate.reopen()
    await settled()
    expect(order).toEqual(['a', 'b'])
    expect(gate.inFlight).toBe(2)
  })

  const failing = async (): Promise<never> => {
    throw new Error('x')
  }
  it.each<[string, (gate: Gate) => Promise<unknown>]>([
    ['an operation', (gate) => gate.during(nowhere, failing)],
    ['an operation that throws at once', (gate) => gate.during(nowhere, () => fail())],
    ['a stop', (gate) => gate.duringStop(failing)],
    ['the last command', (gate) => gate.duringLast(failing)],
    ['a batch', (gate) => gate.duringBatch(nowhere, failing)],
    ['an operation of a batch', (gate) => gate.duringBatch(nowhere, (during) => during(failing))],
    ['a turn', (gate) => gate.duringTurn(failing)],
    ['a wait', (gate) => gate.whileWaiting(failing)],
  ])('G5: %s that fails leaves the gate free', async (_name, pass) => {
    const { gate } = gateWith()
    await expect(pass(gate)).rejects.toThrow('x')
    expect(gate.inFlight).toBe(0)
    expect(gate.waitsOnlyFor(0, 0)).toBe(true)
    const next = operation(gate)
    expect(next.started()).toBe(true)
    gate.pause('wait_for_completion')
    operation(gate)
    await next.end()
    expect(gate.atBoundary('wait_for_completion')).toBe(true)
  })

  it('is not left between two operations of a batch, except for an interrupt', async () => {
    const { gate } = gateWith()
    const between = signal()
    const batch = gate.duringBatch(nowhere, async (during) => {
      await during(() => 1)
      await between.promise
      return during(() => 2)
    })
    await settled()
    expect(gate.inFlight).toBe(1)
    gate.pause('interrupt_immediate')
    between.fire()
    await settled()
    expect(gate.inFlight).toBe(0)
    gate.reopen()
    expect(await batch).toBe(2)
    expect(gate.inFlight).toBe(0)
  })

  it('W1: knows whether anything goes on but these waits and these operations', async () => {
    const { gate } = gateWith()
    const waiting = held((work) => gate.whileWaiting(work))
    expect(gate.waitsOnlyFor(1, 0)).toBe(true)
    const running = operation(gate)
    expect(gate.waitsOnlyFor(1, 0)).toBe(false)
    expect(gate.waitsOnlyFor(1, 1)).toBe(true)
    gate.waitForever()
    expect(gate.waitsOnlyFor(1, 1)).toBe(true)
    const retry = held((work) => gate.whileWaiting(work))
    expect(gate.waitsOnlyFor(1, 1)).toBe(false)
    for (const one of [running, retry, waiting]) await one.end()
    expect(gate.waitsOnlyFor(0, 0)).toBe(true)
  })

  it('W2: nothing starts without a slot, and what is blocked for other reasons asks for none', async () => {
    let slot = false
    let asked = 0
    const { gate } = gateWith({
      slot: () => {
        asked++
        return slot
      },
    })
    gate.pause('finish_step')
    const step = operation(gate)
    expect([step.started(), asked]).toEqual([false, 0])
    gate.reopen()
    const nested = operation(gate, inStep)
    expect([step.started(), nested.started()]).toEqual([false, false])
    expect(asked).toBeGreaterThan(0)
    slot = true
    gate.review()
    await settled()
    expect([step.started(), nested.started()]).toEqual([true, true])
  })

  it('tells whenever a boundary may have been reached', async () => {
    const { gate, moves } = gateWith()
    const running = operation(gate)
    expect(moves()).toBe(0)
    await running.end()
    expect(moves()).toBe(1)
    const waiting = held((work) => gate.whileWaiting(work))
    expect(moves()).toBe(2)
    await waiting.end()
    expect(gate.waitsOnlyFor(0, 0)).toBe(true)
    gate.pause('finish_step')
    operation(gate)
    expect(moves()).toBe(4)
  })
})

function fail(): never {
  throw new Error('x')
}
