/** P1 to P5 of `scheduler.ts`. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../../core/task.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { slowToWrite } from '../../../testing/slow-writes.ts'
import { type Agent, agent } from '../../author/agent.ts'
import type { Caller } from '../../caller.ts'
import { createClusterHarness } from '../../test-support/cluster-harness.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  olga,
} from '../../test-support/engine-harness.ts'
import { createFaultyStore } from '../../test-support/faulty-store.ts'
import type { Schedule } from './schedule.ts'
import { createScheduleStates } from './schedule-state.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const operator: Caller = { tenant: 'default', principal: 'olga', operator: true }
const hourly = { name: 'hourly', cron: '0 * * * *', message: 'go' } as const

function worker(...schedule: readonly Schedule[]): Agent {
  return agent({ name: 'worker', description: 'Works', schedule, run: () => 'done' })
}

/** The times that started tasks, in order. */
async function startedTimes({ engine }: Pick<Harness, 'engine'>): Promise<readonly string[]> {
  const times: string[] = []
  let cursor: string | undefined
  do {
    const page = await engine.list(operator, { limit: 100, cursor })
    times.push(...page.tasks.map(timeOf))
    cursor = page.cursor
  } while (cursor !== undefined)
  return times.sort()
}

function timeOf({ metadata }: Pick<Task, 'metadata'>): string {
  return (metadata?.['schedule'] as { readonly time?: string } | undefined)?.time ?? 'by hand'
}

const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1) + hours * HOUR).toISOString()

describe('a schedule', () => {
  it('starts a task at each time, and tells the agent which', async () => {
    const harness = await createHarness({ agents: [worker(hourly)] })
    await harness.pass(HOUR - 1)
    expect(await startedTimes(harness)).toEqual([])
    for (let hour = 0; hour < 3; hour++) await harness.pass(HOUR)
    expect(await startedTimes(harness)).toEqual([at(1), at(2), at(3)])
    const { tasks } = await harness.engine.list(operator)
    expect(tasks[0]).toMatchObject({
      tenant: 'default',
      principal: 'anonymous',
      origin: 'schedule',
      metadata: { schedule: { name: 'hourly' } },
    })
  })

  it('has the tenant and principal it names, and a message with data', async () => {
    const schedule = {
      ...hourly,
      tenant: 'acme',
      principal: 'alice',
      message: [{ data: { n: 1 } }],
    }
    const harness = await createHarness({ agents: [worker(schedule)] })
    await harness.pass(HOUR)
    const { tasks } = await harness.engine.list(alice)
    expect(tasks.map(({ history }) => history[0]?.parts)).toEqual([[{ data: { n: 1 } }]])
  })

  it('P2 starts the task of a time at which the process died, once', async () => {
    const harness = await createHarness({ agents: [worker(hourly)] })
    await harness.settled()
    harness.crash()
    harness.clock.advance(HOUR + MINUTE)
    const next = await harness.recover()
    await next.settled()
    expect(await startedTimes(next)).toEqual([at(1)])
    const third = await next.recover()
    await third.settled()
    expect(await startedTimes(third)).toEqual([at(1)])
  })

  it('lets the engine start while an agent does not finish receiving the message of a due time', async () => {
    const deaf = agent({
      ...worker(hourly),
      receive: () => new Promise<undefined>(() => undefined),
    })
    const harness = await createHarness({ agents: [worker(hourly)] })
    await harness.settled()
    harness.crash()
    harness.clock.advance(HOUR + MINUTE)
    const next = await harness.recover({ agents: [deaf] })
    expect(await next.engine.health()).toMatchObject({ ready: true })
  })

  it('P2 tries again while the store fails', async () => {
    const faulty = createFaultyStore()
    const harness = await createHarness({ store: faulty.store, agents: [worker(hourly)] })
    await harness.settled()
    faulty.writesFail = true
    await harness.pass(HOUR)
    faulty.writesFail = false
    await harness.pass(5_000)
    expect(await startedTimes(harness)).toEqual([at(1)])
  })

  it.each<['skip' | 'run-once', readonly string[]]>([
    ['skip', []],
    ['run-once', [at(9)]],
  ])('P3 with the policy %s, after a night without a process', async (missed, started) => {
    const harness = await createHarness({ agents: [worker({ ...hourly, missed })] })
    await harness.settled()
    harness.crash()
    harness.clock.advance(9 * HOUR + 30 * MINUTE)
    const next = await harness.recover()
    await next.settled()
    expect(await startedTimes(next)).toEqual(started)
    await next.pass(30 * MINUTE)
    expect(await startedTimes(next)).toEqual([...started, at(10)])
  })

  it('P3 runs no missed time when a time that is not missed is due', async () => {
    const harness = await createHarness({ agents: [worker({ ...hourly, missed: 'run-once' })] })
    await harness.settled()
    harness.crash()
    harness.clock.advance(9 * HOUR + 30_000)
    const next = await harness.recover()
    await next.settled()
    expect(await startedTimes(next)).toEqual([at(9)])
  })

  it('P3 counts no time as missed from before it was first seen', async () => {
    const schedule = { ...hourly, missed: 'run-once' } as const
    const harness = await createHarness({ agents: [worker(schedule)] })
    await harness.settled()
    expect(await startedTimes(harness)).toEqual([])
  })

  it('P4 starts nothing while it is paused, also after a restart, and misses nothing afterwards', async () => {
    const schedule = { ...hourly, missed: 'run-once' } as const
    const harness = await createHarness({ agents: [worker(schedule)] })
    const id = 'worker:hourly'
    expect(await harness.engine.pauseSchedule(operator, id)).toMatchObject({
      paused: true,
      pausedBy: 'olga',
    })
    await harness.pass(2 * HOUR)
    const next = await harness.recover()
    await next.pass(2 * HOUR)
    expect(await startedTimes(next)).toEqual([])
    const resumed = await next.engine.resumeSchedule(operator, id)
    expect(resumed).toMatchObject({ paused: false, nextAt: Date.parse(at(5)) })
    const third = await next.recover()
    await third.settled()
    expect(await startedTimes(third)).toEqual([])
    await third.pass(HOUR)
    expect(await startedTimes(third)).toEqual([at(5)])
  })

  it('P4 starts no time of a pause that another process ended while the store failed here', async () => {
    const shared = createMemoryStore()
    const faulty = createFaultyStore(shared)
    const schedule = { ...hourly, cron: '* * * * *' }
    const harness = await createHarness({ store: faulty.store, agents: [worker(schedule)] })
    await harness.engine.pauseSchedule(operator, 'worker:hourly')
    await harness.settled()
    faulty.readsFail = true
    await harness.pass(MINUTE + 30_000)
    const elsewhere = createScheduleStates(shared, harness.clock)
    await elsewhere.write('worker:hourly', { handledUntil: harness.clock.now() })
    await elsewhere.setPause('worker:hourly', undefined)
    faulty.readsFail = false
    await harness.pass(5_000)
    expect(await startedTimes(harness)).toEqual([])
    await harness.pass(25_000)
    expect(await startedTimes(harness)).toEqual([at(2 / 60)])
  })

  it('is listed with its state, and starts a task by hand', async () => {
    const harness = await createHarness({ agents: [worker(hourly)] })
    await harness.pass(HOUR)
    const [info] = await harness.engine.schedules(operator)
    const { tasks } = await harness.engine.list(operator)
    expect(info).toEqual({
      id: 'worker:hourly',
      agent: 'worker',
      name: 'hourly',
      times: '0 * * * *',
      missed: 'skip',
      paused: false,
      nextAt: Date.parse(at(2)),
      lastAt: Date.parse(at(1)),
      lastTaskId: tasks[0]?.id,
    })
    await harness.engine.runSchedule(operator, 'worker:hourly')
    await harness.engine.runSchedule(operator, 'worker:hourly')
    expect(await startedTimes(harness)).toEqual([at(1), 'by hand', 'by hand'])
  })

  it('is for operators of its tenant alone', async () => {
    const { engine } = await createHarness({ agents: [worker(hourly)] })
    await expect(engine.schedules(alice)).rejects.toMatchObject({ code: 'NOT_OFFERED' })
    expect(await engine.schedules(olga)).toEqual([])
    for (const act of [engine.pauseSchedule, engine.resumeSchedule, engine.runSchedule]) {
      await expect(act(olga, 'worker:hourly')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    expect(await engine.schedules({ ...operator, tenant: '*' })).toHaveLength(1)
  })
})

describe('a schedule on a shared store', () => {
  it('P1 starts one task per time with four processes, whatever their clocks show', async () => {
    const done = effects()
    const schedule = [{ name: 'often', every: '30 seconds', message: 'go' }] as const
    const agents = [
      agent({ name: 'worker', description: 'x', schedule, run: () => void done.note('run') }),
    ]
    const cluster = createClusterHarness({ agents })
    const processes = []
    for (const skewMs of [0, 7_000, -5_000, 300]) processes.push(await cluster.join({ skewMs }))
    await cluster.pass(2 * MINUTE)
    processes[1]?.crash()
    await cluster.pass(MINUTE)
    const times = await startedTimes(processes[0] as Harness)
    expect(times).toEqual([1, 2, 3, 4, 5, 6].map((n) => at(n / 120)))
    expect(done.count('run')).toBe(6)
  })

  it('P4 keeps the time up to which another process has handled it while this one was slow', async () => {
    const { store } = createClusterHarness()
    const clock = createManualClock()
    const quick = createScheduleStates(store, clock)
    await quick.write('worker:hourly', { handledUntil: 10, lastAt: 10 })
    const slow = createScheduleStates(
      slowToWrite(store, () => quick.write('worker:hourly', { handledUntil: 30 })),
      clock,
    )
    await slow.write('worker:hourly', { handledUntil: 20, lastAt: 20 })
    expect(await quick.read('worker:hourly')).toEqual({ handledUntil: 30, lastAt: 10 })
  })

  it.each(['before it starts', 'while it runs'])(
    'P5 starts every time also when a wrong clock wrote %s that later ones were handled',
    async (when) => {
      const store = createMemoryStore()
      const agents = [worker({ ...hourly, cron: '* * * * *' })]
      const wrong = createManualClock(Date.UTC(2026, 0, 1, 1))
      const write = () =>
        createScheduleStates(store, wrong).write('worker:hourly', { handledUntil: wrong.now() })
      if (when === 'before it starts') await write()
      const harness = await createHarness({ store, agents })
      await harness.pass(30_000)
      if (when === 'while it runs') await write()
      await harness.pass(30_000)
      await harness.pass(MINUTE)
      expect(await startedTimes(harness)).toEqual([at(1 / 60), at(2 / 60)])
    },
  )

  it('P4 is paused in every process by any of them', async () => {
    const cluster = createClusterHarness({ agents: [worker({ ...hourly, cron: '* * * * *' })] })
    const [one, two] = [await cluster.join(), await cluster.join()]
    await one.engine.pauseSchedule(operator, 'worker:hourly')
    await cluster.pass(2 * MINUTE)
    expect(await startedTimes(two)).toEqual([])
  })
})

describe('a schedule with four processes in the night when clocks change', () => {
  const berlin = (name: string, cron: string) =>
    ({ name, cron, timezone: 'Europe/Berlin', message: 'go' }) as const

  async function four(cluster: ReturnType<typeof createClusterHarness>) {
    const processes: Harness[] = []
    for (const skewMs of [0, 900, -700, 300]) processes.push(await cluster.join({ skewMs }))
    return processes
  }

  it('P1 starts one task for an hour that is left out, and one for the next, also when processes die', async () => {
    const schedules = [berlin('left-out', '0 2 * * *'), berlin('after', '0 3 * * *')]
    const startAt = Date.UTC(2026, 2, 29, 0, 59, 50)
    const cluster = createClusterHarness({ agents: [worker(...schedules)], startAt })
    const processes = await four(cluster)
    await cluster.pass(9_000)
    processes[0]?.crash()
    await cluster.pass(1_000)
    processes[1]?.crash()
    await cluster.pass(9_000)
    const change = '2026-03-29T01:00:00.000Z'
    expect(await startedTimes(processes[2] as Harness)).toEqual([change, change])
  })

  it('P1 starts one task for a time that comes twice, also when every process dies in between', async () => {
    const startAt = Date.UTC(2026, 9, 25, 0, 29, 50)
    const schedule = { ...berlin('twice', '30 2 * * *'), missed: 'run-once' } as const
    const cluster = createClusterHarness({ agents: [worker(schedule)], startAt })
    const processes = await four(cluster)
    await cluster.pass(20_000)
    for (const one of processes) one.crash()
    cluster.clock.advance(HOUR - 20_000)
    const [next] = await four(cluster)
    await cluster.pass(20_000)
    expect(await startedTimes(next as Harness)).toEqual(['2026-10-25T00:30:00.000Z'])
  })
})

describe('a schedule under kills', () => {
  it('P1 and P2: every time has one task when no process is away for long', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 50 })), {
          minLength: 1,
          maxLength: 8,
        }),
        async (lives) => {
          const clock = createManualClock(Date.UTC(2026, 2, 29))
          const store = createMemoryStore()
          const schedule = {
            name: 'x',
            cron: '* * * * *',
            timezone: 'Europe/Berlin',
            message: 'go',
          }
          let harness = await createHarness({ store, clock, agents: [worker(schedule)] })
          for (const [aliveSeconds, deadSeconds] of lives) {
            for (let left = aliveSeconds; left > 0; left -= 20) {
              await harness.pass(Math.min(left, 20) * 1_000)
            }
            harness.crash()
            clock.advance(deadSeconds * 1_000)
            harness = await harness.recover()
          }
          await harness.settled()
          const minutes = Math.floor((clock.now() - Date.UTC(2026, 2, 29)) / MINUTE)
          expect(await startedTimes(harness)).toHaveLength(minutes)
        },
      ),
      { numRuns: 20 },
    )
  })
})
