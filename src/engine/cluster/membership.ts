/**
 * This process among those that share a store: its worker id, its lease and the time of the store.
 *
 * Invariants of a cluster. The first two are kept by `core/decide`: a run writes with its token.
 *
 *  C1  A task has at most one run that can write. Taking over appends `started` with a new token. What the old run writes
 *      afterwards loses the compare-and-set, is decided on the new state, and is refused by its token.
 *  C2  Taking over names the run it takes from, and does nothing when the task has another run.
 *  C3  No step starts here after another process may have taken the lease. The deadline counts from before the last good
 *      heartbeat was sent, and is compared before every step, not in a timer: timers are late after the process stood still.
 *  C4  A lease that ran out never comes back. The runs of the worker are discarded and its cache is dropped. The process
 *      goes on as another worker.
 *  C5  What another process writes reaches the runs, readers and watchers here, also when every report is lost.
 *  C6  A refusal, a no-op or a read is never answered from a cached task that may be out of date.
 *  C7  An event that was acknowledged is told to every task that waits for it, whichever process dies, and wakes it once.
 *  C8  After a hold was answered, no task in its scope that existed works without it, in any process. With `holdNew`, none
 *      begins. No step starts here while this process has heard of a hold that it has not read (`hold-barrier.ts`).
 *  C9  Recorded times are those of the store's clock.
 *  C10 A lease that the guard thread renews says nothing about the loop: C3, C4 and C8 count the heartbeats of the loop
 *      alone. So code that held the loop for less than `blockedAfterMs` costs no lease, and the next step begins after a
 *      heartbeat of the loop, which also tells the epoch of the holds.
 *  C11 The code that held the loop of a dead process is named in the note of its lease, and the row stays until that task is
 *      taken over. The death counts for that task alone (`executor/process-deaths.ts`).
 */
import type { Json } from '../../core/values/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { Beat, ClusterStore } from '../../ports/store/cluster.ts'
import { createLease } from './lease.ts'
import { createLoopTurns } from './loop-turns.ts'
import { createOffsetMeter } from './offset-meter.ts'
import type { StoreClock } from './store-clock.ts'

export interface Membership {
  /** The id under which this process runs tasks. It changes when a lease is lost. */
  readonly worker: () => string
  /** Whether a step may start now (C3). */
  readonly holdsLease: () => boolean
  /** Resolves when a step may start. */
  whenLeased(): Promise<void>
  /** False when another process does the work of that name. With 0 the work is given back. */
  takeDuty(name: string, forMs: number): boolean | Promise<boolean>
  start(): Promise<void>
  /** Renews the lease now, so that others can read the note. False: the store has no such lease. */
  renew(): Promise<boolean>
  /** Goes on as another worker, as after a lost lease: what this one owned can be taken over at once. */
  restart(): Promise<void>
  /**
   * The last call: the tasks of this worker can be taken over at once.
   * @param isDone false: the note stays, and another process finishes what this one has left
   */
  leave(isDone: boolean): Promise<void>
}

export interface MembershipDeps {
  readonly cluster: Pick<
    ClusterStore,
    'registerWorker' | 'heartbeat' | 'removeWorker' | 'takeDuty' | 'loopGuard'
  >
  /** The clock of this process, without the offset. */
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'uuid'>
  readonly log: Log
  /** The names of the agents, which can be replaced. */
  readonly agents: () => readonly string[]
  readonly leaseMs: number
  readonly blockedAfterMs: number
  /** What the next process has to know when this one dies. */
  readonly note: () => { readonly [name: string]: Json }
  /** The task whose code may hold the event loop next, if it is only one. */
  readonly suspect: () => string | undefined
  readonly setOffset: StoreClock['setOffset']
  /** The holds have this epoch. */
  readonly heardHolds: (epoch: number) => void
  /** The lease ran out: other processes may take over what runs here (C4). */
  readonly lost: () => void
}

/** Heartbeats within one lease. */
const BEATS = 3
const RETRY_MS = 1_000

export function newWorkerId(ids: Pick<IdSource, 'uuid'>): string {
  return `worker-${ids.uuid()}`
}

/** The only process of an embedded store. */
export function createSoleMembership(ids: Pick<IdSource, 'uuid'>): Membership {
  const worker = newWorkerId(ids)
  return {
    worker: () => worker,
    holdsLease: () => true,
    whenLeased: async () => undefined,
    takeDuty: () => true,
    start: async () => undefined,
    renew: async () => true,
    restart: async () => undefined,
    leave: async () => undefined,
  }
}

type Phase = 'outside' | 'member' | 'left'

export function createMembership(deps: MembershipDeps): Membership {
  const { cluster, clock, ids, log, agents, leaseMs, blockedAfterMs, note } = deps
  const turns = createLoopTurns(deps)
  const lease = createLease(clock, leaseMs)
  const measureOffset = createOffsetMeter(deps.setOffset)
  const beatMs = leaseMs / BEATS
  let worker = newWorkerId(ids)
  let phase: Phase = 'outside'
  let cancel: (() => void) | undefined
  const holdsLease = (): boolean => phase === 'member' && lease.isCurrent()

  /** Returns false when the store says that the lease is gone. C4: an answer for a former worker id changes nothing. */
  async function renew(ask: () => Promise<Beat | undefined>): Promise<boolean> {
    const [asked, asker] = [lease.instant(), worker]
    const beat = await ask()
    if (worker !== asker || phase === 'left') return true
    if (beat === undefined) return false
    phase = 'member'
    measureOffset(beat.now, asked.elapsed, clock.elapsed())
    lease.renewed(asked)
    deps.heardHolds(beat.holdEpoch)
    return true
  }
  function renewLease(): Promise<boolean> {
    const noted = note()
    // Also before the answer: code may take the loop meanwhile.
    cluster.loopGuard?.guard({ workerId: worker, leaseMs, blockedAfterMs, note: noted })
    return renew(() => cluster.heartbeat(worker, leaseMs, noted))
  }

  async function register(): Promise<void> {
    await renew(() => cluster.registerWorker({ id: worker, agents: agents() }, leaseMs))
    await renewLease()
    beatAfter(beatMs)
  }

  /** Under a new id: the store may have registered the last one without an answer. */
  function registerAnew(): Promise<void> {
    worker = newWorkerId(ids)
    return register()
  }

  function beatAfter(ms: number): void {
    cancel?.()
    if (phase !== 'left') cancel = clock.after(ms, () => void beat())
  }

  async function beat(): Promise<void> {
    try {
      if (phase === 'outside') await registerAnew()
      else if (await renewLease()) beatAfter(beatMs)
      else await goOnAsAnother()
    } catch (error) {
      log('warn', 'the lease could not be renewed; trying again', { worker, error })
      beatAfter(RETRY_MS)
    }
  }

  function goOnAsAnother(): Promise<void> {
    log('warn', 'this process gives up its tasks and goes on as another worker', { worker })
    phase = 'outside'
    cluster.loopGuard?.guard(undefined)
    deps.lost()
    return registerAnew()
  }

  return {
    worker: () => worker,
    holdsLease,
    whenLeased: () => (holdsLease() ? Promise.resolve() : lease.nextRenewal()),
    takeDuty: (name, forMs) => cluster.takeDuty(name, worker, forMs),
    start() {
      turns.start()
      return register()
    },
    renew: renewLease,
    async restart() {
      if (phase === 'left') return
      // Also while it registers: the id that it registers is given up, and another one is not removed.
      const former = worker
      await goOnAsAnother()
      await cluster.removeWorker(former)
    },
    async leave(isDone) {
      phase = 'left'
      cancel?.()
      turns.stop()
      await giveBack(deps, worker, isDone)
    },
  }
}

/** With a lease of no time the row stays, and another process reads its note. */
async function giveBack(
  { cluster, note, log }: Pick<MembershipDeps, 'cluster' | 'note' | 'log'>,
  worker: string,
  isDone: boolean,
): Promise<void> {
  const text = 'the lease could not be given back; it runs out by itself'
  const left = isDone ? cluster.removeWorker(worker) : cluster.heartbeat(worker, 0, note())
  await left.catch((error: unknown) => log('warn', text, { worker, error }))
}
