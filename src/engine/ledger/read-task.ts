/**
 * Reads a task from memory, or from the store if memory does not have it or it may be out of date.
 */

import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { rejectAll } from './answers.ts'
import type { Loaded, Loader } from './loader.ts'
import { rowOf } from './row.ts'
import type { TaskCache } from './task-cache.ts'
import { forget, isSettled, move, type TaskEntry, unreadableError } from './task-entry.ts'
import type { SharedTasks, TaskQueues } from './task-queues.ts'

export interface ReadDeps {
  readonly cache: TaskCache
  readonly loader: Pick<Loader, 'load'>
  readonly queues: Pick<TaskQueues, 'loaded' | 'heard'>
  /** Present when other processes write too. */
  readonly versionOf?: SharedTasks['versionOf'] | undefined
}

/** @param tenant the tenant that the caller believes the task to have */
export type ReadTask = (taskId: string, tenant?: string) => Promise<Task | undefined>

export function createRead(deps: ReadDeps): ReadTask {
  const { versionOf } = deps
  return versionOf === undefined ? ownRead(deps) : sharedRead(deps, versionOf)
}

/** For an embedded store. No other process writes, so a task in memory is up to date. */
function ownRead({ cache, loader, queues }: ReadDeps): ReadTask {
  /**
   * Asks the store for a task whose create is under way: a create does not read the store first, so
   * the task may already exist.
   */
  async function readWhileCreated(entry: TaskEntry): Promise<Task | undefined> {
    const loaded = await loader.load(entry.id)
    return entry.task ?? (loaded.kind === 'none' ? undefined : loaded.task)
  }

  return async (taskId) => {
    const entry = cache.use(taskId)
    if (entry.task !== undefined) return entry.task
    if (entry.plan !== undefined || entry.phase === 'queued') return readWhileCreated(entry)
    await queues.loaded(entry)
    const { task } = entry
    // Entries of tasks that do not exist are dropped, because callers can ask for any id.
    if (entry.phase === 'unknown') cache.delete(taskId)
    else cache.trim()
    return task
  }
}

/**
 * For a shared store. A task in memory is returned only if the store has the same version (C6 of
 * `cluster/membership.ts`).
 */
function sharedRead(
  { cache, loader, queues }: ReadDeps,
  versionOf: SharedTasks['versionOf'],
): ReadTask {
  return async (taskId, tenant) => {
    const version = await versionOf(taskId, tenant)
    if (version === 0 && tenant !== undefined) return undefined
    const entry = cache.use(taskId)
    if (entry.task?.version === version) return entry.task
    const isBehind = version > (entry.task?.version ?? 0)
    if (isBehind && isSettled(entry)) {
      queues.heard(entry, version)
      await entry.loading
      if (entry.task !== undefined && entry.task.version >= version) return entry.task
    }
    const loaded = await loader.load(taskId, 0, tenant)
    if (loaded.kind !== 'none') return loaded.task
    if (isSettled(entry)) cache.delete(taskId)
    return undefined
  }
}

/**
 * Reads the store for an entry: phase `loading`, then the phase that the answer leads to. In a
 * shared store, only records after the known version are read, and published to readers of the task
 * in this process.
 */
export interface EntryLoadingDeps {
  readonly cache: Pick<TaskCache, 'grow'>
  readonly loader: Pick<Loader, 'load' | 'follow'>
  /** The task as the run in this process has it. Present in a shared store. */
  readonly known?: ((taskId: string) => Task | undefined) | undefined
  /**
   * Called with records that other processes wrote. Empty if it is not known which records are new.
   */
  readonly learned: (task: Task, records: readonly LogRecord[], before: Task | undefined) => void
  /** Called when the entry was read. Its queued commands are next. */
  readonly proceed: (entry: TaskEntry) => void
  /** Called when an entry may have become settled. */
  readonly settled: () => void
}

export function createEntryLoading(deps: EntryLoadingDeps): (entry: TaskEntry) => void {
  const { cache, loader, known, learned, proceed, settled } = deps

  function take(entry: TaskEntry, loaded: Loaded): void {
    entry.loading = undefined
    if (entry.stale) {
      entry.storedVersion = 0
      forget(entry)
      load(entry)
      return
    }
    if (loaded.kind === 'none') forget(entry)
    else {
      entry.task = loaded.task
      entry.row = rowOf(loaded.task)
    }
    if (loaded.kind === 'unreadable') {
      move(entry, 'unreadable')
      rejectAll(entry.queue.splice(0), unreadableError(entry))
      settled()
      return
    }
    if (loaded.kind === 'task') {
      entry.storedVersion = 0
      entry.snapshotSeq = Math.max(entry.snapshotSeq, loaded.snapshotSeq)
      cache.grow(entry, loaded.bytes)
      if (known !== undefined) learned(loaded.task, loaded.records, loaded.before)
    }
    proceed(entry)
  }

  function fail(entry: TaskEntry, error: unknown): void {
    entry.loading = undefined
    forget(entry)
    move(entry, 'unknown')
    rejectAll(entry.queue.splice(0), error)
    settled()
  }

  function read({ id, task, storedVersion }: TaskEntry): Promise<Loaded> {
    const base = known && (task ?? known(id))
    return base === undefined ? loader.load(id, storedVersion) : loader.follow(base, storedVersion)
  }

  function load(entry: TaskEntry): void {
    move(entry, 'loading')
    entry.heardVersion = 0
    entry.loading = read(entry).then(
      (loaded) => take(entry, loaded),
      (error: unknown) => {
        fail(entry, error)
        throw error
      },
    )
    // Callers that await `loading` get the error. If there are none, the rejection must not be
    // reported as unhandled.
    entry.loading.catch(() => undefined)
  }

  return load
}
