import type { TextNews } from '../../core/messages/text-news.ts'
import type { Json } from '../../core/values/json.ts'
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import type { Hold } from './holds.ts'

/**
 * The part of a store that several processes use at the same time. An embedded store does not have it, because only one
 * process uses it.
 * All times in this part are compared by the store's clock, never by the clock of a process.
 *
 * Some methods of the other parts behave differently in a shared store, because several processes call them:
 * - `ready`, `due` and `orphans` reserve what they return. Until `RESERVED_MS` have passed, or a commit has written the
 * row
 *   of the task, no call of any process returns the task again.
 * - `due` returns no task that is not due by the store's clock, whatever instant the caller gives.
 * - `orphans` returns the tasks whose owner has no lease (never registered, removed, or run out). Its first argument is
 *   ignored.
 * - `appendEvents` gives positions in commit order: a reader that has seen a position never sees a lower one appear
 * later.
 *   The new events are undispatched, and reserved for the caller (`undispatchedEvents`).
 * - `putHold` changes the hold epoch in the same transaction.
 * - A commit with a `holdEpoch` is refused when the epoch has changed. A commit that is under way while `putHold` runs
 *   either is visible to every read after `putHold` has resolved, or is refused.
 */
export interface ClusterStore {
  /** Adds a worker and gives it a lease. The id was never registered before. */
  registerWorker(worker: NewWorker, leaseMs: number): Promise<Beat>
  /**
   * Renews the lease and replaces the note. It never waits behind other calls, because a late one costs the lease.
   * Undefined: the lease ran out or was removed. It never comes back.
   */
  heartbeat(workerId: string, leaseMs: number, note: Json): Promise<Beat | undefined>
  /** Renews the lease while the event loop of this process stands still. Undefined: the store has no thread for it. */
  readonly loopGuard?: LoopGuard | undefined
  /** Removes the worker, whether it lives or not. The tasks it owns are orphans from then on. */
  removeWorker(workerId: string): Promise<void>
  /** Every registered worker, ordered by id. Workers whose lease ran out stay until they are removed. */
  workers(): Promise<readonly Worker[]>

  /** The version of each task, in the order of the ids; 0 for a task that does not exist. */
  versions(taskIds: readonly string[]): Promise<readonly number[]>
  /** The holds in effect, oldest first, and the epoch they belong to. Both are read in one snapshot. */
  holdsInEffect(): Promise<HoldsInEffect>
  /**
   * Writes the hold, as `putHold` does, if the hold epoch is still this one. False: the holds may have changed since, and
   * nothing was written by this call. When the connection was lost, an earlier attempt may have written it.
   */
  putHoldAt(hold: Hold, epoch: number): Promise<boolean>
  /** Changes the hold epoch without a hold, and returns the new one. */
  nextHoldEpoch(): Promise<number>
  /** Events that were not offered to tasks and are not reserved, by position. They become reserved for the caller. */
  undispatchedEvents(limit: number): Promise<readonly StoredEvent[]>
  /** Reserves events for another `RESERVED_MS`, as far as they are not marked as dispatched. */
  reserveEvents(positions: readonly number[]): Promise<void>
  /** The events were offered to every task that waited for them. */
  markDispatched(positions: readonly number[]): Promise<void>
  /**
   * Gives work that one process does for all to a worker, for `forMs` from now. False: another worker has it, and its
   * time has not passed. A name is a short text.
   * With 0 the worker gives the duty back, and nothing of it is kept. False then: this worker does not have it.
   */
  takeDuty(name: string, workerId: string, forMs: number): Promise<boolean>
  /** Removes up to `limit` duties whose time has passed, and resolves with how many. */
  pruneDuties(limit: number): Promise<number>

  /**
   * Calls back with what other processes have changed. Reports may be lost, repeated and reordered, so a listener uses
   * them only to look sooner. They are sent after the change is durable. Returns a function that ends the calls.
   */
  onChanges(listener: (changes: Changes) => void): () => void
  /** Reports to the listeners of all other processes. Never waits, and never fails. */
  report(changes: Changes): void
}

/** How long a reservation lasts. */
export const RESERVED_MS = 5_000

/**
 * Renews the lease of this process from a thread, while agent code holds the event loop. The process itself believes only
 * the heartbeats that its loop has sent. So a lease that the guard has renewed starts no step, and says nothing about what
 * the loop has read.
 */
export interface LoopGuard {
  /** The loop sends this heartbeat. Undefined: the process has no lease any more. */
  guard(lease: GuardedLease | undefined): void
  /** The loop turns. `suspect` is the task whose code may take the loop before the next call, if it is only one. */
  turned(suspect: string | undefined): void
  /** Code of the task takes the loop, or gives it back (undefined). Returns what was told before. */
  running(taskId: string | undefined): string | undefined
}

export interface GuardedLease {
  readonly workerId: string
  readonly leaseMs: number
  /** When the loop has not turned for so long, the lease is not renewed any more. */
  readonly blockedAfterMs: number
  /**
   * The note of the last heartbeat. With a heartbeat of the guard it also has `blockedBy`: the task whose code holds the
   * loop, or null where that is not known.
   */
  readonly note: { readonly [name: string]: Json }
}

export interface NewWorker {
  readonly id: string
  /** The agents that the process runs. */
  readonly agents: readonly string[]
}

export interface Worker extends NewWorker {
  /** Whether its lease holds. One that ran out never holds again, also not by a heartbeat that is under way. */
  readonly alive: boolean
  /** Until when its lease holds, or held; epoch milliseconds. */
  readonly leaseUntil: number
  /** The note of its last heartbeat; null before the first one. */
  readonly note: Json
}

export interface Beat {
  /** The store's clock, epoch milliseconds. */
  readonly now: number
  readonly holdEpoch: number
}

export interface HoldsInEffect {
  /** Grows with every `putHold` and `nextHoldEpoch`. */
  readonly epoch: number
  readonly holds: readonly Hold[]
}

/** An absent field means that nothing is reported. */
export interface Changes {
  /** Tasks with the version they have reached. The store reports them after a commit. */
  readonly tasks?: readonly { readonly id: string; readonly version: number }[]
  /** Agents with tasks that became ready. The store reports them after a commit. */
  readonly readyAgents?: readonly string[]
  /** Live text of tasks that run in the reporting process. Sent with `report`. */
  readonly texts?: readonly TextNews[]
  /** The live text that the reporting process wants to be told. Sent with `report`. */
  readonly wishes?: readonly TextWish[]
  /** The holds may have changed, and have this epoch. Sent with `report`. */
  readonly holdEpoch?: number
  /** The reporting process has changed the note of its lease. Sent with `report`. */
  readonly noted?: true
  /** Anything may have changed: the connection was interrupted, or reports were dropped. */
  readonly everything?: true
  /** Committed writes may be lost, because another database server took over. Tasks in memory are no longer valid. */
  readonly rolledBack?: true
}

export interface TextWish {
  readonly taskId: string
  /** The number of the last message that the process has heard, or 0. It is told everything when that was not the last. */
  readonly heard: number
}
