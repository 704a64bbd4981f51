/** When operations may start, and when a run stands still: the invariants G1 to G4 of gate.ts, one by one. */
import { describe, expect, it } from 'vitest'
import type { PauseMode } from '../../core/suspension.ts'
import { Gate, type Scope } from './gate.ts'

const nowhere: Scope = {}
const inTurn: Scope = { turn: {} }
const inStep: Scope = { inside: {} }

function gateWith(some: { withheld?: () => number; unsettled?: () => number } = {}): {
  gate: Gate
  moves: () => number
} {
  let moves = 0
  const gate = new Gate({
    withheld: some.withheld ?? (() => 0),
    unsettled: some.unsettled ?? (() => 0),
    moved: () => {
      moves++
    },
  })
  return { gate, moves: () => moves }
}

/** Whether it may start at once. */
const starts = (entered: Promise<void> | undefined): boolean => entered === undefined

async function order(entries: Record<string, Promise<void> | undefined>): Promise<string[]> {
  const seen: string[] = []
  for (const [name, entered] of Object.entries(entries)) {
    entered?.then(() => seen.push(name)).catch(() => undefined)
  }
  await new Promise((resolve) => setImmediate(resolve))
  return seen
}

describe('the gate', () => {
  it.each<[PauseMode, boolean, boolean]>([
    ['interrupt_immediate', false, false],
    ['finish_step', false, false],
    ['wait_for_completion', false, true],
  ])('G1: under %s only what the mode allows starts', (mode, outside, inside) => {
    const { gate } = gateWith()
    gate.pause(mode)
    expect(starts(gate.enter(inStep))).toBe(true)
    expect(starts(gate.enter(inTurn))).toBe(inside)
    expect(starts(gate.enter(nowhere))).toBe(outside)
  })

  it('G1: once closed nothing starts, not even inside a step', () => {
    const { gate } = gateWith()
    gate.close()
    for (const scope of [nowhere, inTurn, inStep]) expect(starts(gate.enter(scope))).toBe(false)
    expect(starts(gate.enterLast())).toBe(false)
  })

  it('G2: no boundary while an operation is in flight', () => {
    const { gate } = gateWith({ unsettled: () => 1 })
    void gate.enter(nowhere)
    for (const mode of ['interrupt_immediate', 'finish_step', 'wait_for_completion'] as const) {
      expect(gate.atBoundary(mode)).toBe(false)
    }
    gate.leave()
    expect(gate.atBoundary('interrupt_immediate')).toBe(true)
    expect(gate.atBoundary('finish_step')).toBe(true)
  })

  it('G2: code that is in no call is a boundary for an interrupt alone', () => {
    const { gate } = gateWith()
    expect(gate.atBoundary('interrupt_immediate')).toBe(true)
    expect(gate.atBoundary('finish_step')).toBe(false)
    expect(gate.atBoundary('wait_for_completion')).toBe(false)
  })

  it('G2: wait_for_completion waits for open turns and for what is about to be handed out', () => {
    let withheld = 0
    const { gate } = gateWith({ withheld: () => withheld })
    gate.openTurn()
    gate.pause('wait_for_completion')
    void gate.enter(nowhere)
    expect(gate.atBoundary('wait_for_completion')).toBe(false)
    withheld = 1
    gate.closeTurn()
    expect(gate.atBoundary('wait_for_completion')).toBe(false)
    withheld = 0
    expect(gate.atBoundary('wait_for_completion')).toBe(true)
  })

  it('G3: a park waits until nothing is in flight, and nothing starts until it is over', async () => {
    const { gate } = gateWith()
    expect(starts(gate.enter(nowhere))).toBe(true)
    const park = gate.enterAlone()
    const step = gate.enter(nowhere)
    expect(starts(park)).toBe(false)
    expect(starts(step)).toBe(false)
    gate.leave()
    expect(await order({ park, step })).toEqual(['park'])
    expect(starts(gate.enter(nowhere))).toBe(false)
    gate.leave()
    expect(await order({ step })).toEqual(['step'])
  })

  it('G3: a second park waits for the first', async () => {
    const { gate } = gateWith()
    expect(starts(gate.enterAlone())).toBe(true)
    const second = gate.enterAlone()
    expect(starts(second)).toBe(false)
    gate.close()
    gate.leave()
    expect(await order({ second })).toEqual([])
    gate.reopen()
    expect(await order({ second })).toEqual(['second'])
  })

  it('G4: what was blocked starts in the order it came', async () => {
    const { gate } = gateWith()
    gate.close()
    const entries = { a: gate.enter(nowhere), b: gate.enter(inTurn), c: gate.enter(nowhere) }
    gate.reopen()
    expect(await order(entries)).toEqual(['a', 'b', 'c'])
    expect(gate.inFlight).toBe(3)
  })

  it('knows whether the run does nothing but wait, its records included', () => {
    let unsettled = 1
    const { gate } = gateWith({ unsettled: () => unsettled })
    const over = gate.wait()
    expect(gate.waitsOnlyFor(1)).toBe(true)
    unsettled = 2
    expect(gate.waitsOnlyFor(1)).toBe(false)
    unsettled = 1
    void gate.enter(nowhere)
    expect(gate.waitsOnlyFor(1)).toBe(false)
    gate.leave()
    over()
    expect(gate.waitsOnlyFor(1)).toBe(false)
  })

  it('tells whenever a boundary may have been reached', () => {
    const { gate, moves } = gateWith()
    void gate.enter(nowhere)
    expect(moves()).toBe(0)
    gate.leave()
    expect(moves()).toBe(1)
    const over = gate.wait()
    expect(moves()).toBe(2)
    over()
    over()
    expect(gate.waitsOnlyFor(0)).toBe(true)
    gate.pause('finish_step')
    void gate.enter(nowhere)
    expect(moves()).toBe(4)
  })
})
