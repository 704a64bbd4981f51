/**
 * Reads a task from memory, or from the store if memory does not have it or it may be out of date.
 */
import type { Task } from '../../core/task.ts'
import type { Loader } from './loader.ts'
import type { TaskCache } from './task-cache.ts'
import { isSettled, type TaskEntry } from './task-entry.ts'
import type { SharedTasks, TaskQueues } from './task-queues.ts'

export interface ReadDeps {
  readonly cache: TaskCache
  readonly loader: Pick<Loader, 'load'>
  readonly queues: Pick<TaskQueues, 'loaded' | 'heard'>
  /** Present when other processes write too. */
  readonly versionOf?: SharedTasks['versionOf'] | undefined
}

export type ReadTask = (taskId: string) => Promise<Task | undefined>

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
  return async (taskId) => {
    const version = await versionOf(taskId)
    const entry = cache.use(taskId)
    if (entry.task?.version === version) return entry.task
    const isBehind = version > (entry.task?.version ?? 0)
    if (isBehind && isSettled(entry)) {
      queues.heard(entry, version)
      await entry.loading
      if (entry.task !== undefined && entry.task.version >= version) return entry.task
    }
    const loaded = await loader.load(taskId)
    if (loaded.kind !== 'none') return loaded.task
    if (isSettled(entry)) cache.delete(taskId)
    return undefined
  }
}
