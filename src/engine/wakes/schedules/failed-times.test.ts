/** P6 of `scheduler.ts`: what happens to a time whose message fails. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { type Agent, agent } from '../../author/agent.ts'
import type { Caller } from '../../caller.ts'
import { createClusterHarness } from '../../test-support/cluster-harness.ts'
import { createHarness, type Harness } from '../../test-support/engine-harness.ts'
import type { Schedule } from './schedule.ts'
import { createScheduleStates } from './schedule-state.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const operator: Caller = { tenant: 'default', principal: 'olga', operator: true }
const start = Date.UTC(2026, 0, 1)
const id = 'worker:often'

/** An agent whose `receive` throws as long as `fails` says so. */
function receiver(fails: (time: string) => boolean, some: Partial<Schedule> = {}) {
  const received: string[] = []
  const timeOf = (messageId: string): string => messageId.slice('schedule:worker:often:'.length)
  const schedule = { name: 'often', every: '1 hour', message: 'go', ...some } as Schedule
  const worker: Agent = agent({
    name: 'worker',
    description: 'x',
    schedule: [schedule],
    receive({ messageId }) {
      received.push(timeOf(messageId))
      if (fails(timeOf(messageId))) throw new Error('the database is away')
      return undefined
    },
    run: () => 'done',
  })
  return { worker, received }
}

const at = (ms: number): string => new Date(start + ms).toISOString()

/** Passes the time in steps, so that what a timer starts is done before the next one. */
async function pass({ pass: passOf }: Pick<Harness, 'pass'>, ms: number, step = 5_000) {
  for (let left = ms; left > 0; left -= step) await passOf(Math.min(left, step))
}

async function startedTimes({ engine }: Pick<Harness, 'engine'>): Promise<readonly unknown[]> {
  const { tasks } = await engine.list(operator, { limit: 100 })
  const timeOf = (value: unknown): string =>
    typeof value === 'object' && value !== null && 'time' in value ? String(value.time) : 'by hand'
  return tasks.map(({ metadata = {} }) => timeOf(metadata['schedule'])).sort()
}

describe('P6: a time whose message fails', () => {
  it('starts its task once the agent can receive it', async () => {
    let left = 2
    const { worker, received } = receiver(() => left-- > 0)
    const harness = await createHarness({ agents: [worker] })
    await harness.pass(HOUR)
    expect(await startedTimes(harness)).toEqual([])
    expect(await harness.engine.schedules(operator)).toMatchObject([
      { failed: [{ time: start + HOUR, attempts: 1, why: expect.stringContaining('database') }] },
    ])
    await pass(harness, MINUTE)
    expect(await startedTimes(harness)).toEqual([at(HOUR)])
    expect(received).toEqual([at(HOUR), at(HOUR), at(HOUR)])
    const [info] = await harness.engine.schedules(operator)
    expect(info).toMatchObject({ lastAt: start + HOUR })
    expect(info?.failed).toBeUndefined()
  })

  it('P6 is tried six times within a quarter of an hour, then given up and listed', async () => {
    const { worker, received } = receiver((time) => time === at(HOUR))
    const harness = await createHarness({ agents: [worker] })
    await harness.pass(HOUR)
    await pass(harness, 15 * MINUTE)
    expect(received).toEqual(Array.from({ length: 6 }, () => at(HOUR)))
    const [info] = await harness.engine.schedules(operator)
    const why = expect.stringContaining('the database is away')
    expect(info?.failed).toEqual([{ time: start + HOUR, attempts: 6, why }])
    const said = harness.said.filter(({ text }) => text.startsWith('a schedule could not start'))
    expect(said.map(({ level }) => level)).toEqual([...Array(5).fill('warn'), 'error'])
    await pass(harness, 45 * MINUTE, 5 * MINUTE)
    expect(await startedTimes(harness)).toEqual([at(2 * HOUR)])
    const [later] = await harness.engine.schedules(operator)
    expect(later?.failed).toBeUndefined()
  })

  it('P6 blocks no other time', async () => {
    const { worker } = receiver((time) => time === at(MINUTE), { every: '1 minute' })
    const harness = await createHarness({ agents: [worker] })
    await pass(harness, 4 * MINUTE)
    expect(await startedTimes(harness)).toEqual([2, 3, 4].map((n) => at(n * MINUTE)))
  })

  it('also when every message fails: the list is bounded', async () => {
    const { worker } = receiver(() => true, { every: '1 second' })
    const harness = await createHarness({ agents: [worker] })
    await pass(harness, 40_000, 1_000)
    const [info] = await harness.engine.schedules(operator)
    expect(info?.failed?.map(({ time }) => (time - start) / 1_000)).toEqual([
      31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    ])
  })

  it('is not lost when the process dies', async () => {
    let fails = true
    const { worker } = receiver(() => fails)
    const harness = await createHarness({ agents: [worker] })
    await harness.pass(HOUR)
    harness.crash()
    fails = false
    harness.clock.advance(30_000)
    const next = await harness.recover()
    await next.settled()
    expect(await startedTimes(next)).toEqual([at(HOUR)])
  })

  it.each<['skip' | 'run-once', readonly string[]]>([
    ['skip', []],
    ['run-once', [at(HOUR)]],
  ])('P3 with the policy %s, when no process ran for long', async (missed, started) => {
    let fails = true
    const { worker } = receiver(() => fails, { missed })
    const harness = await createHarness({ agents: [worker] })
    await harness.pass(HOUR)
    harness.crash()
    fails = false
    harness.clock.advance(30 * MINUTE)
    const next = await harness.recover()
    await next.settled()
    expect(await startedTimes(next)).toEqual(started)
  })

  it('P4 is not tried while the schedule is paused, nor afterwards', async () => {
    let fails = true
    const { worker } = receiver(() => fails)
    const harness = await createHarness({ agents: [worker] })
    await harness.pass(HOUR)
    await harness.engine.pauseSchedule(operator, id)
    fails = false
    await pass(harness, MINUTE)
    expect(await startedTimes(harness)).toEqual([])
    await harness.engine.resumeSchedule(operator, id)
    await pass(harness, 20 * MINUTE, MINUTE)
    expect(await startedTimes(harness)).toEqual([])
  })

  it('P1 starts one task in a cluster, whichever process tries it', async () => {
    let left = 5
    const { worker } = receiver(() => left-- > 0, { every: '10 minutes' })
    const cluster = createClusterHarness({ agents: [worker] })
    const [one] = [await cluster.join(), await cluster.join(), await cluster.join()]
    await cluster.pass(10 * MINUTE)
    for (let n = 0; n < 12; n++) await cluster.pass(5_000)
    expect(await startedTimes(one)).toEqual([at(10 * MINUTE)])
  })

  it('P5 is tried also when a wrong clock wrote that it is due in a far future', async () => {
    const store = createMemoryStore()
    const clock = createManualClock(start)
    const failed = { time: start, attempts: 1, why: 'x', retryAt: start + 1_000 * HOUR }
    const states = createScheduleStates(store, clock)
    await states.write(id, { handledUntil: start }, [{ time: start, failed }])
    const { worker } = receiver(() => false)
    const harness = await createHarness({ store, clock, agents: [worker] })
    await harness.settled()
    expect(await startedTimes(harness)).toEqual([at(0)])
  })
})
