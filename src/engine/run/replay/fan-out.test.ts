/** Code that calls very many operations at once holds the event loop for a bounded number of them: P1 and P2 of releaser.ts. */
import { afterEach, describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import { createCountingIds } from '../../../testing/counting-ids.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import { alice, createHarness, type Harness, running } from '../../test-support/engine-harness.ts'
import { storeWith } from '../test-support/store-with.ts'

const COUNT = 1_000
const MOST_PER_TURN = 64
const numbers = Array.from({ length: COUNT }, (_, index) => index)

/** How often something happened in each turn of the event loop. */
function countPerTurn() {
  let [turn, on] = [0, true]
  const counts = new Map<number, number>()
  const next = (): void => {
    turn++
    if (on) setImmediate(next)
  }
  next()
  return {
    count: () => counts.set(turn, (counts.get(turn) ?? 0) + 1),
    most: () => Math.max(...counts.values()),
    stop: () => {
      on = false
    },
  }
}

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

type Program = (task: AgentTask, effect: (value: number) => number) => Promise<unknown>

/** Runs the program. Its effects are counted in each turn. */
async function run(program: Program, some: Parameters<typeof createHarness>[0] = {}) {
  const turns = countPerTurn()
  stops.push(turns.stop)
  const effects: number[] = []
  const worker = running((task) =>
    program(task, (value) => {
      turns.count()
      effects.push(value)
      return value
    }).then(() => 'done'),
  )
  const child = running(() => Promise.resolve('ok'), { name: 'child' })
  const options = { journalRecords: 100_000 }
  const harness = await createHarness({ agents: [worker, child], options, ...some })
  return { harness, turns, effects }
}

/** The program runs, its process dies after these records, and another process goes on. */
async function dieAndGoOn(program: Program, survives: (record: LogRecord) => boolean) {
  const ids = createCountingIds()
  const first = await run(program, { ids })
  const { id } = await first.harness.send('go')
  await first.harness.ended(id)
  const kept = (await first.harness.log(id)).filter(survives)
  const log = kept.map((record, index) => ({ ...record, seq: index + 1 }))
  const second = await run(program, {
    store: await storeWith(log),
    clock: first.harness.clock,
    ids,
  })
  const task = await endOf(second.harness, id)
  return { first, second, task, log }
}

async function endOf(harness: Harness, id: string) {
  await harness.settled()
  return harness.ended(id)
}

const fanOut: Program = (task, effect) =>
  Promise.all(numbers.map((value) => task.step(`number ${value}`, () => effect(value))))
const fanOutOfTools: Program = (task, effect) =>
  task.turn((turn) =>
    Promise.all(numbers.map((value) => turn.tool(`number ${value}`, () => effect(value)))),
  )

const isEnd = ({ type }: LogRecord): boolean => type === 'completed'
const isOddStep = (record: LogRecord): boolean => record.type === 'step' && record.seq % 2 === 1

describe('code that calls a thousand operations at once', () => {
  it.each([
    ['steps', fanOut],
    ['tools', fanOutOfTools],
  ])('P1: begins a bounded number of %s in a turn of the loop', async (_, program) => {
    const { harness, turns, effects } = await run(program)
    const { id } = await harness.send('go')
    expect((await harness.ended(id)).state).toBe('completed')
    expect(effects.toSorted((one, other) => one - other)).toEqual(numbers)
    expect(turns.most()).toBeLessThanOrEqual(MOST_PER_TURN)
  })

  it.each([
    ['steps', fanOut],
    ['tools', fanOutOfTools],
  ])(
    'rebuilt with half of its %s recorded, runs the others once, some in each turn',
    async (_, program) => {
      const survives = (record: LogRecord) =>
        !isEnd(record) && !isOddStep(record) && record.type !== 'turn-ended'
      const { second, task, log } = await dieAndGoOn(program, survives)
      expect(task.state).toBe('completed')
      const recorded = log.filter(({ type }) => type === 'step').length
      expect(recorded).toBeGreaterThan(COUNT / 3)
      expect(second.effects).toHaveLength(COUNT - recorded)
      expect(new Set(second.effects).size).toBe(COUNT - recorded)
      expect(second.turns.most()).toBeLessThanOrEqual(MOST_PER_TURN)
    },
  )

  it('P2: sees results in the order of their records when it is rebuilt', async () => {
    const orders: number[][] = []
    const racing: Program = (task, effect) => {
      const order: number[] = []
      orders.push(order)
      const lanes = numbers.map(async (value) => {
        await task.step('lane', async () => {
          for (let turn = value % 7; turn > 0; turn--) await new Promise(setImmediate)
          return effect(value)
        })
        order.push(value)
      })
      return Promise.all(lanes)
    }
    const { second } = await dieAndGoOn(racing, (record) => !isEnd(record))
    expect(second.effects).toEqual([])
    expect(orders[1]).toEqual(orders[0])
    expect(orders[0]).not.toEqual(numbers)
  })

  it('is paused while operations wait to begin, and begins them after the resume', async () => {
    const { harness, turns, effects } = await run(fanOut)
    const { id } = await harness.send('go')
    const answer = await harness.engine.pause(alice, { taskId: id })
    expect(answer.state).toBe('paused-by-client')
    await harness.settled()
    const before = effects.length
    // A store that delays commits lets all of them begin before the pause is written.
    if (process.env['LULL_TEST_STORE'] !== 'delaying') expect(before).toBeLessThan(COUNT)
    await harness.engine.resume(alice, { taskId: id })
    expect((await endOf(harness, id)).state).toBe('completed')
    expect(effects.toSorted((one, other) => one - other)).toEqual(numbers)
    expect(turns.most()).toBeLessThanOrEqual(MOST_PER_TURN)
  })

  it('that are reports of usage under a budget goes on after a crash and counts each once', async () => {
    const reports: Program = (task) =>
      Promise.all(numbers.map(() => task.usage({ inputTokens: 1 })))
    const lost = (record: LogRecord) => record.type === 'usage' && record.seq % 2 === 1
    const { task } = await dieAndGoOn(reports, (record) => !isEnd(record) && !lost(record))
    expect(task.usage).toMatchObject({ inputTokens: COUNT })
  })

  it('that are children goes on after a crash with the same children', async () => {
    const family: Program = async (task) => {
      const children = await Promise.all(
        numbers.slice(0, 100).map(() => task.delegate('child', 'go')),
      )
      return Promise.all(children.map((child) => child.result()))
    }
    const { task, log } = await dieAndGoOn(
      family,
      (record) => !isEnd(record) && !(record.type === 'child-ended' && record.seq % 2 === 1),
    )
    expect(task.state).toBe('completed')
    expect(log.filter(({ type }) => type === 'delegated')).toHaveLength(100)
  })
})
