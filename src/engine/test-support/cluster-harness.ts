/**
 * Several engines on one store in memory, as processes share a database. Time passes for all of them and for the store
 * together; each has a wall clock of its own, which can be set while it runs. Reports between them can be lost, repeated and late. For tests only.
 */
import type { Changes } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { quiet } from '../../testing/process-life.ts'
import { createHarness, type Harness, type HarnessOptions } from './engine-harness.ts'
import { createFailoverCluster, type FailoverCluster } from './failover.ts'

export interface ClusterHarness {
  /** The store's clock. */
  readonly clock: ManualClock
  readonly store: Store
  /** Starts another process. `skewMs`: its wall clock shows so much more than the store's. */
  join(some?: HarnessOptions & { readonly skewMs?: number }): Promise<Harness>
  /** The process stands still, as by SIGSTOP: time passes, and it notices nothing. */
  stop(process: Harness): void
  goOn(process: Harness): void
  /** The machine of the process sleeps until `goOn`: its elapsed time and its timers stand still, and its wall clock goes on. */
  sleep(process: Harness): void
  /** Sets the wall clock of the process, forwards or backwards. */
  stepWall(process: Harness, ms: number): void
  /** Another server takes over that lacks the last writes. */
  readonly failOver: FailoverCluster['failOver']
  /** Lets time pass for everybody, and everybody react. */
  pass(ms: number): Promise<void>
  settled(): Promise<void>
}

export interface ClusterOptions extends HarnessOptions {
  /** What becomes of a report: how often it arrives, and after how many loop turns. Default: once, at once. */
  readonly hints?: () => readonly number[]
  /** Wraps each connection to the store. */
  readonly connection?: (store: Store) => Store
  /** Epoch milliseconds. Default: the beginning of 2026. */
  readonly startAt?: number
  /** Loop turns without a store call after which nothing more is expected. */
  readonly quietTurns?: number
}

interface Joined {
  readonly process: Harness
  readonly clock: ManualClock
  /** Time that passed while it was stopped. */
  missedMs: number
  state: 'runs' | 'stopped' | 'asleep'
  /** Its elapsed time is so much less than that of a machine that never slept. */
  sleptMs: number
}

/** Time passes in slices, so that timers of all processes take turns. */
const SLICE_MS = 250
const START = Date.UTC(2026, 0, 1)

export function createClusterHarness(given: ClusterOptions = {}): ClusterHarness {
  const { hints, connection = (store) => store, startAt = START, quietTurns, ...shared } = given
  const clock = createManualClock(startAt)
  const cluster = createFailoverCluster(clock.now)
  const joined: Joined[] = []
  const ids = given.ids ?? createCountingIds()

  const touched = (): number => joined.reduce((sum, { process }) => sum + process.life.touched(), 0)

  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SLICE_MS) {
      const slice = Math.min(left, SLICE_MS)
      clock.advance(slice)
      for (const one of joined) {
        if (one.state === 'runs') one.clock.advance(slice)
        else if (one.state === 'stopped') one.missedMs += slice
        else one.sleptMs += slice
      }
      await quiet(touched, quietTurns)
    }
  }

  function find(process: Harness): Joined {
    const found = joined.find((one) => one.process === process)
    if (found === undefined) throw new Error('not a process of this cluster')
    return found
  }

  return {
    clock,
    store: cluster.connect(),
    async join({ skewMs = 0, ...some } = {}) {
      const timers = createManualClock(clock.now() + skewMs)
      let wallMs = skewMs
      let one: Joined | undefined
      // A process that was stopped sees the time at once, and its timers fire late.
      const own: ManualClock = {
        ...timers,
        now: () => clock.now() + skewMs,
        elapsed: () => clock.elapsed() - (one?.sleptMs ?? 0),
        wall: () => clock.now() + wallMs,
        stepWall(ms) {
          wallMs += ms
        },
      }
      const store = connection(withHints(cluster.connect(), hints))
      const process = await createHarness({ ...shared, ids, ...some, clock: own, store })
      one = { process, clock: own, missedMs: 0, state: 'runs', sleptMs: 0 }
      joined.push(one)
      return process
    },
    stop(process) {
      process.life.stop()
      find(process).state = 'stopped'
    },
    sleep(process) {
      process.life.stop()
      find(process).state = 'asleep'
    },
    goOn(process) {
      const one = find(process)
      one.state = 'runs'
      process.life.goOn()
      one.clock.advance(one.missedMs)
      one.missedMs = 0
    },
    stepWall: (process, ms) => find(process).clock.stepWall(ms),
    failOver: cluster.failOver,
    pass,
    settled: () => quiet(touched, quietTurns),
  }
}

function withHints(store: Store, hints: ClusterOptions['hints']): Store {
  const { cluster } = store
  if (hints === undefined || cluster === undefined) return store
  const onChanges: typeof cluster.onChanges = (listener) =>
    cluster.onChanges((changes: Changes) => {
      // The process notices by itself that it is connected to another server.
      for (const turns of changes.rolledBack ? [0] : hints()) {
        afterTurns(turns, () => listener(changes))
      }
    })
  return { ...store, cluster: { ...cluster, onChanges } }
}

function afterTurns(turns: number, act: () => void): void {
  if (turns <= 0) act()
  else setImmediate(() => afterTurns(turns - 1, act))
}
