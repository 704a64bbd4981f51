/** Two processes on a real server, each with a wall clock that can be set alone. */
import { expect, it, onTestFinished } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import { createHarness, type Harness, olga } from '../../engine/test-support/engine-harness.ts'
import type { Store } from '../../ports/store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { storeMaker } from './test-support/new-schema.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const TASKS = 50
/** Shorter than a third of the lease, so that no heartbeat is late. */
const SLICE_MS = 15_000
const makeStore = storeMaker()

const worker = agent({
  name: 'worker',
  description: 'Parks, or does what its schedule says',
  schedule: [{ name: 'minutely', cron: '* * * * *', message: 'tick', tenant: 'acme' }],
  async run(task) {
    if (task.text === 'tick') return
    await task.park({ reason: 'x', timeout: { durationMinutes: 8, onTimeout: 'fail' } })
  },
})

/** A connection whose calls are counted while they are under way. @param back the way back of a heartbeat's answer */
function connection(store: Store, back: () => Promise<void>) {
  let underWay = 0
  const counting = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(from, name, receiver) {
        const member: unknown = Reflect.get(from, name, receiver)
        if (name === 'cluster') return counting(member as object)
        if (typeof member !== 'function' || name === 'onChanges' || name === 'report') return member
        return async (...given: readonly unknown[]) => {
          underWay++
          try {
            const answer: unknown = await Reflect.apply(member, from, given)
            if (name === 'heartbeat') await back()
            return answer
          } finally {
            underWay--
          }
        }
      },
    })
  return {
    store: counting(store),
    isIdle: () => underWay === 0,
  }
}

/** @param tripMs how long a heartbeat takes, for everybody */
async function cluster(tripMs: number) {
  const { store, cluster: server, cleanup } = await makeStore()
  if (server === undefined) throw new Error('not a shared store')
  const processes: (ReturnType<typeof connection> & { readonly harness: Harness })[] = []
  onTestFinished(async () => {
    for (const { harness } of processes) harness.crash()
    await cleanup()
  })
  const ids = createCountingIds()
  for (const connected of [store, await server.connect()]) {
    const one = connection(connected, () => passAtOnce(tripMs))
    const clock = createManualClock(Date.now())
    const options = { leaseMs: MINUTE, pollMs: MINUTE }
    const harness = await createHarness({ agents: [worker], store: one.store, clock, ids, options })
    processes.push({ ...one, harness })
  }

  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!processes.every(({ isIdle }) => isIdle())) quiet = 0
    }
  }

  async function passAtOnce(ms: number): Promise<void> {
    if (ms === 0) return
    await server?.pass(ms)
    for (const { harness } of processes) harness.clock.advance(ms)
  }

  /** Time passes for the server and for both processes. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SLICE_MS) {
      await passAtOnce(Math.min(left, SLICE_MS))
      await settle()
    }
  }
  const [one, two] = processes
  if (one === undefined || two === undefined) throw new Error('two processes were started')
  return { one: one.harness, two: two.harness, pass }
}

function parked({ send, until }: Harness): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: TASKS }, async () => {
      const { id } = await send('park')
      await until(id, 'paused-by-agent')
      return id
    }),
  )
}

/** The times of the schedule that have started a task, in order. */
async function times({ engine }: Harness): Promise<readonly number[]> {
  const { tasks } = await engine.list(olga, { limit: 100 })
  return tasks
    .map(({ metadata }) => metadata?.['schedule'] as { readonly time: string } | undefined)
    .flatMap((schedule) => (schedule === undefined ? [] : [Date.parse(schedule.time)]))
    .sort((a, b) => a - b)
}

async function expectEveryMinuteOnce(harness: Harness, atLeast: number): Promise<void> {
  const started = await times(harness)
  const [first = 0] = started
  expect(started).toEqual(started.map((_, n) => first + n * MINUTE))
  expect(started.length).toBeGreaterThanOrEqual(atLeast)
}

it.each([0, 700])(
  'fires nothing early, nothing twice and stops nothing while one wall clock is an hour ahead and one an hour behind, with heartbeats of %i ms',
  async (tripMs) => {
    const { one, two, pass } = await cluster(tripMs)
    const taskIds = await parked(one)
    await pass(2 * MINUTE)
    one.clock.stepWall(-HOUR)
    two.clock.stepWall(HOUR)
    await pass(4_000)
    one.clock.stepWall(HOUR)
    two.clock.stepWall(-HOUR)
    await pass(3 * MINUTE)
    await expectEveryMinuteOnce(one, 5)
    for (const id of taskIds) expect((await two.get(id)).state).toBe('paused-by-agent')
    await pass(4 * MINUTE)
    await expectEveryMinuteOnce(two, 9)
    for (const id of taskIds) {
      const log = await one.log(id)
      expect(log.filter(({ type }) => type === 'failed')).toHaveLength(1)
      const { statusAt, suspension } = await one.get(id)
      expect(statusAt).toBeGreaterThanOrEqual(suspension?.deadlineAt ?? 0)
    }
  },
)
