import type { Spent } from '../../core/budgets/budget.ts'
import type { Push } from '../../core/push.ts'
import type { LogRecord } from '../../core/records.ts'
import type { State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Claim } from './claims.ts'
import type { PruneResult } from './pruning.ts'

/**
 * The columns that a store indexes. They are derived from the task by a pure function
 * (`engine/ledger/row.ts`). `tenant`, `principal`, `agent`, `contextId`, `parentId` and `createdAt`
 * never change.
 */
export interface TaskRow {
  readonly id: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly parentId?: string
  readonly state: State
  readonly createdAt: number
  /** When the task entered its state, or last reported a status in it. Lists are sorted by it. */
  readonly statusAt: number
  /** Set while the task is ready to run and no process runs it: since when. */
  readonly readyAt?: number
  /** The worker whose run holds the task. */
  readonly owner?: string
  /** The instant at which the task is next due. */
  readonly dueAt?: number
  readonly held: boolean
  /** Names of the events that the task waits for (`waitNames` in `core/waiting/conditions.ts`). */
  readonly waits: readonly string[]
}

/** A task in a store. */
export interface TaskKey {
  readonly tenant: string
  readonly id: string
}

export interface Commit {
  /** The tenant of the task. The row, the claim and the webhooks of the commit are of this tenant too. */
  readonly tenant: string
  readonly taskId: string
  /** The version of the task before this commit; 0 creates the task. */
  readonly expected: number
  /** The new records, numbered from `expected + 1`. Never empty. */
  readonly records: readonly LogRecord[]
  /** Present when a column changed; always present on creation. */
  readonly row?: TaskRow
  /** The task folded up to the last record. Given when the task is likely to be loaded soon. */
  readonly snapshot?: Task
  /**
   * The idempotency key to claim. If it is already claimed, nothing of this commit is written. One
   * exception: on creation, a key that was claimed for this same task does not prevent the commit.
   */
  readonly claim?: Claim
  /** The hold epoch on which the decision is based (`cluster.ts`). Embedded stores ignore it. */
  readonly holdEpoch?: number
  /**
   * The highest event position of the tenant that the task refers to after this commit. Embedded
   * stores ignore it.
   */
  readonly eventPos?: number
  /** The new anchor of the task's receipts, in printable ASCII. Absent: the stored anchor stays. */
  readonly anchor?: string
  /** Webhooks to be stored with the records. */
  readonly pushes?: readonly Push[]
  /**
   * Amounts to add to the sums of budgets, in the same transaction. A sum of an earlier period is
   * replaced. Amounts for an earlier period than that of the sum are ignored.
   */
  readonly spending?: readonly Spent[]
}

/**
 * Why one commit failed. Repeating it would fail again.
 * - `content`: a value in it cannot be stored (not JSON, too large, refused by a constraint).
 * - `malformed`: the caller broke the rules of `commit` (no records, a gap in their numbers, a
 * creation without a row).
 */
export type CommitFailure = 'content' | 'malformed'

export type CommitResult =
  | { readonly status: 'written' }
  /**
   * The task has another version. `version` is the stored one; 0 means that there is no such task.
   * Nothing was written.
   */
  | { readonly status: 'conflict'; readonly version: number }
  | { readonly status: 'claimed'; readonly claim: Claim }
  /**
   * The decision is based on data that the store does not have: the holds have changed since
   * `holdEpoch`, or the store has given no event the position `eventPos`, because events were lost
   * when another database server took over. Nothing was written.
   */
  | { readonly status: 'outdated' }
  /**
   * This commit cannot be stored. Nothing of it was written. Other commits of the batch are not
   * affected.
   */
  | { readonly status: 'failed'; readonly kind: CommitFailure; readonly error: unknown }

/** The latest snapshot, if any, and the records after it. Folding them yields the task. */
export interface StoredTask {
  readonly snapshot?: Task
  readonly records: readonly LogRecord[]
  /**
   * Columns of the row, read together with the log. They reveal a log whose end is missing. Absent:
   * not checked.
   */
  readonly row?: Pick<TaskRow, 'state' | 'statusAt'>
  /**
   * The anchor that the last commit with an anchor set; null if none has. It is kept outside the
   * log (`core/receipts/receipt-anchor.ts`). Absent: the store keeps no anchors, and a log that was
   * cut off is not detected.
   */
  readonly anchor?: string | null
}

/** The filter of a list of tasks. Each member narrows it. */
export interface TaskFilter {
  readonly tenant?: string
  readonly principal?: string
  readonly agent?: string
  readonly contextId?: string
  readonly parentId?: string
  readonly states?: readonly State[]
  readonly held?: boolean
  /** Tasks with `statusAt` at or after this instant. */
  readonly statusAtFrom?: number
}

/**
 * One function per filter, which translates it for a store. Each store has one such table, so that
 * a new filter does not compile until the store handles it.
 */
export type ByFilter<Made> = {
  readonly [F in keyof Wanted]: (wanted: Wanted[F]) => Made
}

type Wanted = Required<TaskFilter>

/** Translates the given filters with the table, in the order of the table. */
export function narrowedBy<Made>(table: ByFilter<Made>, given: TaskFilter): readonly Made[] {
  const make = <F extends keyof Wanted>(filter: F): readonly Made[] => {
    const wanted = given[filter] as Wanted[F] | undefined
    return wanted === undefined ? [] : [table[filter](wanted)]
  }
  return (Object.keys(table) as readonly (keyof Wanted)[]).flatMap(make)
}

/** Sorted by `statusAt` descending, then id descending. A query without a tenant asks all parts. */
export interface TaskQuery extends TaskFilter {
  /** Continue after this row. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}

/** The filter of a list of tasks that have not ended. Each member narrows it. */
export interface OpenTaskQuery {
  readonly tenant?: string
  readonly agent?: string
  readonly contextId?: string
  /** Only tasks that a hold stops. */
  readonly held?: true
  /** Continue after this row. */
  readonly after?: Pick<TaskRow, 'tenant' | 'contextId' | 'id'>
  readonly limit: number
}

/** Stores the logs of tasks, and the rows derived from them. */
export interface TaskStore {
  /**
   * Writes a batch, and returns the results in the same order. Rejects only when the store as a
   * whole cannot write; then nothing was written. If several results apply, `claimed` takes
   * precedence over `conflict`, and `conflict` over `outdated`.
   */
  commit(batch: readonly Commit[]): Promise<readonly CommitResult[]>

  /**
   * @throws LullError `TASK_UNREADABLE` when what is stored of this task is damaged, `STORE_UNAVAILABLE` when no task
   * can be read
   */
  load(tenant: string, taskId: string): Promise<StoredTask | undefined>
  /** The row alone. It can be read even if the log of the task is damaged. */
  row(tenant: string, taskId: string): Promise<TaskRow | undefined>
  /** The log after `afterSeq`, oldest first; empty for a task that does not exist. */
  records(
    tenant: string,
    taskId: string,
    afterSeq: number,
    limit: number,
  ): Promise<readonly LogRecord[]>
  /**
   * The tenant of a task that is stored. For callers that know only its id, such as operators of all
   * tenants: this asks all parts.
   */
  tenantOf(taskId: string): Promise<string | undefined>
  /** Tenants that have something stored, or had, in a stable order after the cursor `after`. */
  tenants(after: string, limit: number): Promise<readonly string[]>

  list(query: TaskQuery): Promise<readonly TaskRow[]>
  count(filter: TaskFilter): Promise<number>
  /**
   * Ordered by something that never changes, so a caller that reads page by page finds every task
   * that existed at the first page and has not ended.
   */
  openTasks(query: OpenTaskQuery): Promise<readonly TaskRow[]>

  /**
   * Removes terminal tasks whose `statusAt` is before `statusBefore`. Their claims stay, and their rows stay readable
   * (`removedTask`). Tasks of a context with an open task are kept, because a parent reads its children and a run reads
   * the conversation. Tasks with an undelivered webhook are kept too. Looks at up to `limit` tasks; `after` is the
   * cursor of the previous call.
   */
  pruneTasks(
    statusBefore: number,
    removedAt: number,
    limit: number,
    after?: string,
  ): Promise<PruneResult>
  /** The row of a task that `pruneTasks` removed. */
  removedTask(tenant: string, taskId: string): Promise<TaskRow | undefined>
  /** Deletes the rows of tasks removed before `removedBefore`. */
  pruneRemovedTasks(removedBefore: number, limit: number): Promise<number>
}
