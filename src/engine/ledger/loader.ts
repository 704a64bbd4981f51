/**
 * Reads tasks from the store. If a log cannot be folded, the result is an unreadable task
 * (`unreadable-task.ts`), which is logged once. If the store cannot be read, the call fails.
 */

import { isLullError, LullError } from '../../core/errors.ts'
import { fold, isRecordType } from '../../core/evolve.ts'
import type { Verifier } from '../../core/receipts/receipt.ts'
import { anchorProblem } from '../../core/receipts/receipt-anchor.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import { weightOf } from '../../core/values/weight.ts'
import type { Log } from '../../ports/log.ts'
import type { StoredTask, TaskKey, TaskStore } from '../../ports/store/tasks.ts'
import { logOf } from './log-of.ts'
import type { TaskPlaces } from './task-places.ts'
import { unreadableTask } from './unreadable-task.ts'

export type Loaded =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'task'
      readonly task: Task
      /** The version of the snapshot. 0: there is none. */
      readonly snapshotSeq: number
      /** The approximate number of bytes read. */
      readonly bytes: number
      /** The records after `before`. Empty when the whole task was read. */
      readonly records: readonly LogRecord[]
      readonly before: Task | undefined
    }
  | { readonly kind: 'unreadable'; readonly task: Task }

export interface Loader {
  /**
   * @param storedVersion a version that the store is known to have; a log that ends before it is
   * unreadable
   * @param tenant the tenant that the caller believes the task to have
   * @throws LullError `STORE_UNAVAILABLE`
   */
  load(taskId: string, storedVersion?: number, tenant?: string): Promise<Loaded>
  /**
   * Like `load`, for a task that is known up to a version. Reads only later records if possible.
   */
  follow(base: Task, storedVersion: number): Promise<Loaded>
  /** The ids of tasks that were found unreadable. */
  readonly unreadable: ReadonlySet<string>
  /** Forgets which tasks are unreadable. Those that still are will be found and logged again. */
  forgetAll(): void
  /** Forgets the unreadable tasks that are gone from the store. */
  forgetRemoved(): Promise<void>
}

/** @param found called once for each task that is found unreadable */
export function createLoader(
  store: Pick<TaskStore, 'load' | 'row' | 'records'>,
  places: TaskPlaces,
  verifier: Verifier,
  log: Log,
  found: (task: Task) => void,
): Loader {
  const unreadable = new Set<string>()

  async function load(taskId: string, storedVersion = 0, tenant?: string): Promise<Loaded> {
    let why: string
    const key = await places.keyOf(taskId, tenant)
    if (key === undefined) return { kind: 'none' }
    try {
      const stored = await store.load(key.tenant, taskId)
      if (stored === undefined) return { kind: 'none' }
      places.learn(taskId, key.tenant)
      const task = foldStored(taskId, stored, verifier)
      if (task.version < storedVersion) {
        const why = `record ${task.version + 1} is missing`
        throw new LullError('TASK_UNREADABLE', { taskId, why })
      }
      unreadable.delete(taskId)
      return {
        kind: 'task',
        task,
        snapshotSeq: stored.snapshot?.version ?? 0,
        bytes: weightOf(task),
        records: noRecords,
        before: undefined,
      }
    } catch (error) {
      if (!isLullError(error, 'TASK_UNREADABLE')) throw error
      why = error.details.why
    }
    return showUnreadable(key, why)
  }

  async function follow(base: Task, storedVersion: number): Promise<Loaded> {
    const { id, version } = base
    const records: LogRecord[] = []
    for await (const record of logOf(store, base, version)) records.push(record)
    const isComplete =
      checkLog(records, base) === undefined && version + records.length >= storedVersion
    // The store has an older version, or the later records cannot be folded. The whole task is read.
    if (!isComplete || (storedVersion > 0 && storedVersion < version)) {
      return load(id, storedVersion)
    }
    const task = foldOnto(base, records)
    if (task === undefined) return load(id, storedVersion)
    return { kind: 'task', task, snapshotSeq: 0, bytes: weightOf(records), records, before: base }
  }

  async function showUnreadable({ tenant, id: taskId }: TaskKey, why: string): Promise<Loaded> {
    const row = await store.row(tenant, taskId)
    if (row === undefined) return { kind: 'none' }
    const task = unreadableTask(row, why)
    if (!unreadable.has(taskId)) {
      unreadable.add(taskId)
      // Deferred, so that callers that wait for the task read it again and find it unreadable.
      queueMicrotask(() => found(task))
      log('error', 'the log of a task cannot be read; the task is stopped, all others go on', {
        taskId,
        agent: row.agent,
        why,
      })
    }
    return { kind: 'unreadable', task }
  }

  async function forgetRemoved(): Promise<void> {
    for (const taskId of unreadable) {
      const key = await places.keyOf(taskId)
      const row = key && (await store.row(key.tenant, taskId))
      if (row === undefined) unreadable.delete(taskId)
    }
  }

  return { load, follow, unreadable, forgetAll: () => unreadable.clear(), forgetRemoved }
}

const noRecords: readonly LogRecord[] = []

/** Undefined when the records cannot be folded. */
function foldOnto(base: Task, records: readonly LogRecord[]): Task | undefined {
  if (records.length === 0) return base
  try {
    return fold(records, base)
  } catch {
    return undefined
  }
}

/**
 * Folds what the store has of a task.
 * @throws LullError `TASK_UNREADABLE`
 */
function foldStored(taskId: string, stored: StoredTask, verifier: Verifier): Task {
  const { snapshot, records } = stored
  const unreadable = (why: string, cause?: unknown): LullError<'TASK_UNREADABLE'> =>
    new LullError('TASK_UNREADABLE', { taskId, why }, { cause })
  const problem = checkLog(records, snapshot)
  if (problem !== undefined) throw unreadable(problem)
  const task = folded(stored, unreadable)
  const cut = checkEnd(task, stored) ?? anchorProblem(task, stored.anchor, verifier)
  if (cut !== undefined) throw unreadable(cut)
  return task
}

function folded(
  { snapshot, records }: StoredTask,
  unreadable: (why: string, cause?: unknown) => Error,
): Task {
  try {
    const task = fold(records, snapshot)
    if (task !== undefined) return task
  } catch (cause) {
    throw unreadable(describeError(cause).message, cause)
  }
  throw unreadable('its log is empty')
}

/**
 * Checks a stored log before it is folded. Finds record types that this version does not know, gaps
 * in the numbers, and a log that is older than its row because its end is missing. One loss is not
 * detected: records after the last receipt that changed neither the state nor the time of the last
 * status, because the row is written only when it changes.
 *
 * @returns the fault in words that follow the task as subject, such as "its log …". Undefined if the log is good.
 */
function checkLog(records: readonly LogRecord[], snapshot: Task | undefined): string | undefined {
  let seq = snapshot?.version ?? 0
  for (const record of records) {
    if (record?.seq !== seq + 1) return `record ${seq + 1} is missing`
    if (!isRecordType(record.type)) {
      return `record ${record.seq} has the type "${record.type}", which this version does not know`
    }
    seq = record.seq
  }
  return undefined
}

/**
 * Compares the folded task with its row. The time of the row may be that of any record, because a
 * clock may have been set back.
 */
function checkEnd(task: Task, { row, records }: StoredTask): string | undefined {
  if (row === undefined) return undefined
  if (row.state !== task.state) {
    return `its log ends in the state ${task.state}, but its row says ${row.state}`
  }
  const isInLog = row.statusAt <= task.statusAt || records.some(({ at }) => at >= row.statusAt)
  return isInLog ? undefined : 'its log ends before the last status that its row names'
}
