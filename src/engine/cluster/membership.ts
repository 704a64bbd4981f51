/**
 * This process among those that share a store: its worker id, its lease and the time of the store.
 *
 * Invariants of a cluster. The first two are kept by `core/decide`: a run writes with its token.
 *
 *  C1  A task has at most one run that can write. Taking over appends `started` with a new token. A
 *      later write of the old run fails its compare-and-set, is decided again on the new state, and
 *      is refused because of its token.
 *  C2  Taking over names the run it takes from, and does nothing when the task has another run.
 *  C3  No step starts here once another process may have taken over. The lease counts from the
 *      moment before the last answered heartbeat was sent, and is checked before every step, not by
 *      a timer: timers fire late after a process was suspended.
 *  C4  A lease that ran out is never renewed. The runs of the worker are discarded and its cache is
 *      dropped. The process goes on as another worker.
 *  C5  Writes of another process reach the runs, readers and watchers here, even if every report is
 *      lost.
 *  C6  A refusal, a no-op or a read is never answered from a cached task that may be out of date.
 *  C7  An acknowledged event is offered to every task that waits for it, whichever process dies,
 *      and wakes each at most once.
 *  C8  Once the request of a hold was answered, every existing task in its scope is held, in all
 *      processes. With `holdNew`, new tasks in the scope are held too. No step starts here while
 *      this process knows of a hold epoch that it has not read (`hold-barrier.ts`).
 *  C9  Recorded times are those of the store's clock.
 *  C10 For C3, C4 and C8, only heartbeats sent by the event loop count, not renewals by the guard
 *      thread. So code that blocks the loop for less than `blockedAfterMs` does not lose the lease,
 *      and the next step starts after a heartbeat of the loop, whose answer also contains the hold
 *      epoch.
 *  C11 If the event loop of a dead process was blocked, the note of its lease names the task whose
 *      code blocked it, and the row stays until that task is taken over. The death counts for that
 *      task alone (`executor/takeover.ts`).
 */

import type { Json } from '../../core/values/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { Beat, ClusterStore } from '../../ports/store/cluster.ts'
import { createLease } from './lease.ts'
import type { StoreClock, StoreOffset } from './store-clock.ts'

export interface Membership {
  /** The worker id under which this process runs tasks. It changes when the lease is lost. */
  readonly worker: () => string
  /** Whether a step may start now (C3). */
  readonly holdsLease: () => boolean
  /** Resolves when a step may start (C3). */
  whenLeased(): Promise<void>
  /** Takes a duty for `forMs`. False when another process has it. With 0 the duty is given back. */
  takeDuty(name: string, forMs: number): boolean | Promise<boolean>
  start(): Promise<void>
  /**
   * Renews the lease now, so that others can read the note. False if the store no longer has this
   * lease.
   */
  renew(): Promise<boolean>
  /**
   * Continues as a new worker, as after a lost lease: the tasks of the former worker can be taken
   * over at once.
   */
  restart(): Promise<void>
  /**
   * Called last: the tasks of this worker can be taken over at once.
   * @param isDone false: work is left, so the note stays for the process that finishes it
   */
  leave(isDone: boolean): Promise<void>
}

export interface MembershipDeps {
  readonly cluster: Pick<
    ClusterStore,
    'registerWorker' | 'heartbeat' | 'removeWorker' | 'takeDuty' | 'loopGuard'
  >
  /** The local clock of this process, without the offset to the store's clock. */
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'uuid'>
  readonly log: Log
  /** The current names of the agents. */
  readonly agents: () => readonly string[]
  readonly leaseMs: number
  readonly blockedAfterMs: number
  /** What another process has to know if this one dies. */
  readonly note: () => { readonly [name: string]: Json }
  /** The task whose code may block the event loop next, if it can be only one. */
  readonly suspect: () => string | undefined
  readonly setOffset: StoreClock['setOffset']
  /** Called with the hold epoch of each heartbeat. */
  readonly heardHolds: (epoch: number) => void
  /** Called when the lease has run out: other processes may take over what runs here (C4). */
  readonly lost: () => void
}

/** The number of heartbeats within one lease. */
const BEATS = 3
const RETRY_MS = 1_000

export function newWorkerId(ids: Pick<IdSource, 'uuid'>): string {
  return `worker-${ids.uuid()}`
}

/** For an embedded store, which only one process uses. */
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

  /**
   * Sends a heartbeat. Returns false if the lease is gone. An answer for a former worker id is
   * ignored (C4).
   */
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
    // Called before the heartbeat is answered, because code may block the event loop meanwhile.
    cluster.loopGuard?.guard({ workerId: worker, leaseMs, blockedAfterMs, note: noted })
    return renew(() => cluster.heartbeat(worker, leaseMs, noted))
  }

  async function register(): Promise<void> {
    await renew(() => cluster.registerWorker({ id: worker, agents: agents() }, leaseMs))
    await renewLease()
    beatAfter(beatMs)
  }

  /** Uses a new id: the store may have registered the last one without its answer arriving. */
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
      // This may happen during registration. Then the id that is being registered is given up, and
      // no other one is removed.
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

/** A lease of 0 ms expires at once but keeps the row, so that another process can read the note. */
async function giveBack(
  { cluster, note, log }: Pick<MembershipDeps, 'cluster' | 'note' | 'log'>,
  worker: string,
  isDone: boolean,
): Promise<void> {
  const text = 'the lease could not be given back; it runs out by itself'
  const left = isDone ? cluster.removeWorker(worker) : cluster.heartbeat(worker, 0, note())
  await left.catch((error: unknown) => log('warn', text, { worker, error }))
}

/** Reports to the guard of the lease that the event loop turns (C10 of `membership.ts`). */
interface LoopTurnsDeps {
  readonly cluster: Pick<ClusterStore, 'loopGuard'>
  readonly clock: Pick<Clock, 'after'>
  readonly leaseMs: number
  readonly suspect: () => string | undefined
}

/** The number of reports within one lease. */
const TURNS = 24
const LONGEST_MS = 1_000

interface LoopTurns {
  start(): void
  /** Called when the process no longer has a lease. */
  stop(): void
}

function createLoopTurns({ cluster, clock, leaseMs, suspect }: LoopTurnsDeps): LoopTurns {
  const { loopGuard } = cluster
  let cancel: (() => void) | undefined

  function turn(): void {
    loopGuard?.turned(suspect())
    cancel = clock.after(Math.min(LONGEST_MS, leaseMs / TURNS), turn)
  }

  return {
    start() {
      if (loopGuard !== undefined) turn()
    },
    stop() {
      cancel?.()
      loopGuard?.guard(undefined)
    },
  }
}

/**
 * Estimates the offset between the store's clock and the elapsed time of this process, from the
 * answers to heartbeats.
 *
 * O1  The store read its clock at some moment between request and answer. So each measurement gives
 *     a lower and an upper bound of the offset, which differ by the round trip.
 * O2  Earlier bounds still count, and widen with time. So a measurement with a short round trip is
 *     used for minutes while later ones are slow, and the error is never larger than half of the
 *     last round trip.
 * O3  If the old and new bounds do not overlap, the machine slept or the store's clock was set.
 *     Then only the last measurement counts.
 */

/** Twice the rate at which two disciplined clocks may drift apart, as a fraction of the time. */
const DRIFT = 0.001

/**
 * Adds a measurement: what the store's clock showed, and the elapsed time at the request and at the
 * answer.
 */
type OffsetMeter = (shown: number, asked: number, answered: number) => void

export function createOffsetMeter(setOffset: StoreClock['setOffset']): OffsetMeter {
  let known: (StoreOffset & { readonly at: number }) | undefined
  return (shown, asked, answered) => {
    const last = { least: shown - answered, most: shown - asked }
    const vague = known === undefined ? 0 : (answered - known.at) * DRIFT
    const least = Math.max(last.least, (known?.least ?? last.least) - vague)
    const most = Math.min(last.most, (known?.most ?? last.most) + vague)
    known = { ...(least <= most ? { least, most } : last), at: answered }
    setOffset(known)
  }
}
