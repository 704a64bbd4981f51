import type { TextNews } from '../../core/messages/text-news.ts'
import type { Json } from '../../core/values/json.ts'
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import type { EventKey } from './events.ts'
import type { Hold } from './holds.ts'
import type { TaskKey } from './tasks.ts'

/**
 * The part of a store that lets several processes use it at the same time. An embedded store does
 * not have it, because only one process can use that.
 * All times in this part are compared by the store's clock, never by the clock of a process.
 *
 * Some methods of the other parts behave differently in a shared store, because several processes call them:
 * - `ready`, `due` and `orphans` reserve what they return: no call of any process returns the task
 *   again until `RESERVED_MS` have passed, or until a commit has written the row of the task.
 * - `due` returns no task that is not due by the store's clock, whatever instant the caller gives.
 * - `orphans` returns the tasks whose owner has no lease (never registered, removed, or run out). Its first argument is
 *   ignored.
 * - `appendEvents` gives positions of a tenant in commit order: a reader that has seen a position never
 *   sees a lower one of that tenant appear later. The new events are undispatched, and reserved for the caller (`undispatchedEvents`).
 * - `putHold` changes the hold epoch in the same transaction.
 * - A commit with a `holdEpoch` is refused when the epoch has changed. A commit that is under way while `putHold` runs
 *   either is visible to every read after `putHold` has resolved, or is refused. A hold of one tenant
 *   waits for commits of that tenant alone.
 */
export interface ClusterStore {
  /** Adds a worker and gives it a lease. The id must never have been used before. */
  registerWorker(worker: NewWorker, leaseMs: number): Promise<Beat>
  /**
   * Renews the lease and replaces the note. It does not wait behind other calls, because a late
   * renewal loses the lease. Returns undefined if the lease has run out or was removed; it can then
   * never be renewed.
   */
  heartbeat(workerId: string, leaseMs: number, note: Json): Promise<Beat | undefined>
  /**
   * Renews the lease while the event loop of this process is blocked. Undefined: the store has no
   * thread for it.
   */
  readonly loopGuard?: LoopGuard | undefined
  /** Removes the worker, whether its process lives or not. Its tasks become orphans. */
  removeWorker(workerId: string): Promise<void>
  /** Every registered worker, ordered by id. Workers whose lease ran out stay until they are removed. */
  workers(): Promise<readonly Worker[]>

  /** The version of each task, in the order of the keys; 0 for a task that does not exist. */
  versions(tasks: readonly TaskKey[]): Promise<readonly number[]>
  /** The holds in effect, oldest first, and their epoch. Both are read in one snapshot. */
  holdsInEffect(): Promise<HoldsInEffect>
  /**
   * Writes the hold, as `putHold` does, if the hold epoch is still `epoch`. False: the holds may
   * have changed since, and this call wrote nothing. After a lost connection, an earlier attempt of
   * the same call may have written it.
   */
  putHoldAt(hold: Hold, epoch: number): Promise<boolean>
  /** Increases the hold epoch without writing a hold, and returns the new one. */
  nextHoldEpoch(): Promise<number>
  /**
   * Events that have not been offered to tasks and are not reserved, those of each tenant ordered by
   * position. They become reserved for the caller.
   */
  undispatchedEvents(limit: number): Promise<readonly StoredEvent[]>
  /**
   * Extends the reservation of these events by another `RESERVED_MS`, unless they are already
   * marked as dispatched.
   */
  reserveEvents(events: readonly EventKey[]): Promise<void>
  /** Marks events as dispatched: every task that waited for them has been offered them. */
  markDispatched(events: readonly EventKey[]): Promise<void>
  /**
   * Assigns a duty, work that one process does for all, to a worker for `forMs` from now. False:
   * another worker still has it. The name is a short text.
   * With `forMs` 0 the worker gives the duty back, and its row is removed. False then means that
   * this worker does not have it.
   */
  takeDuty(name: string, workerId: string, forMs: number): Promise<boolean>
  /** Removes up to `limit` duties that have run out, and returns how many. */
  pruneDuties(limit: number): Promise<number>

  /**
   * Calls `listener` with changes made by other processes, after they are durable. Reports may be
   * lost, repeated and reordered, so a listener uses them only to look sooner. Returns a function
   * that stops the calls.
   */
  onChanges(listener: (changes: Changes) => void): () => void
  /** Reports changes to all other processes. Never waits and never fails. */
  report(changes: Changes): void
}

/** The duration of a reservation. */
export const RESERVED_MS = 5_000

/**
 * A thread that renews the lease of this process while agent code blocks the event loop. The
 * process itself trusts only heartbeats sent by its event loop: after a renewal by the guard alone
 * it starts no step, and does not assume that it has read the latest holds.
 */
export interface LoopGuard {
  /**
   * Called with each heartbeat that the event loop sends. Undefined: the process no longer has a
   * lease.
   */
  guard(lease: GuardedLease | undefined): void
  /**
   * Called while the event loop turns. `suspect` is the only task whose code may block the loop
   * before the next call, if there is exactly one.
   */
  turned(suspect: string | undefined): void
  /**
   * Called when code of a task starts to run on the event loop, and with undefined when it returns.
   * Returns the previous value.
   */
  running(taskId: string | undefined): string | undefined
}

export interface GuardedLease {
  readonly workerId: string
  readonly leaseMs: number
  /** If the event loop has not turned for this long, the guard stops renewing the lease. */
  readonly blockedAfterMs: number
  /**
   * The note of the last heartbeat. In a heartbeat of the guard it also has `blockedBy`: the id of
   * the task whose code blocks the loop, or null if that is not known.
   */
  readonly note: { readonly [name: string]: Json }
}

export interface NewWorker {
  readonly id: string
  /** The agents that the process runs. */
  readonly agents: readonly string[]
}

export interface Worker extends NewWorker {
  /**
   * Whether the worker has its lease. A lease that ran out never becomes valid again, not even by a
   * heartbeat that was already sent.
   */
  readonly alive: boolean
  /** When the lease ends or ended, in epoch milliseconds. */
  readonly leaseUntil: number
  /** The note of the last heartbeat; null before the first one. */
  readonly note: Json
}

export interface Beat {
  /** The store's clock, epoch milliseconds. */
  readonly now: number
  readonly holdEpoch: number
}

export interface HoldsInEffect {
  /** The hold epoch. Grows with every `putHold` and `nextHoldEpoch`. */
  readonly epoch: number
  readonly holds: readonly Hold[]
}

/** Changes that a process reports to the others. An absent member reports nothing. */
export interface Changes {
  /** Changed tasks with their new version. The store reports them after a commit. */
  readonly tasks?: readonly { readonly id: string; readonly version: number }[]
  /** Agents that have newly ready tasks. The store reports them after a commit. */
  readonly readyAgents?: readonly string[]
  /** Live text of tasks that run in the reporting process. Sent with `report`. */
  readonly texts?: readonly TextNews[]
  /** The tasks whose live text the reporting process wants to receive. Sent with `report`. */
  readonly wishes?: readonly TextWish[]
  /** The new hold epoch: the holds may have changed. Sent with `report`. */
  readonly holdEpoch?: number
  /** The reporting process has written a new note to its lease. Sent with `report`. */
  readonly noted?: true
  /**
   * Set when reports may be missing, because the connection was interrupted or reports were
   * dropped: anything may have changed.
   */
  readonly everything?: true
  /**
   * Committed writes may be lost, because another database server took over. Tasks in memory must
   * be discarded.
   */
  readonly rolledBack?: true
}

export interface TextWish {
  readonly taskId: string
  /**
   * The number of the last message of live text that the process received, or 0. If the sender has
   * sent later ones, it sends the whole text.
   */
  readonly heard: number
}
