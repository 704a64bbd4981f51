/**
 * Reads the store for an entry: phase `loading`, then the phase that the answer leads to. In a
 * shared store, only records after the known version are read, and published to readers of the task
 * in this process.
 */
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { rejectAll } from './answers.ts'
import type { Loaded, Loader } from './loader.ts'
import { rowOf } from './row.ts'
import type { TaskCache } from './task-cache.ts'
import { forget, move, type TaskEntry, unreadableError } from './task-entry.ts'

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
