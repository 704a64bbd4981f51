/** Reads the store for an entry: `loading`, then whatever the store answered. */
import { rowOf } from '../row.ts'
import { rejectAll } from './answers.ts'
import type { Loaded, Loader } from './loader.ts'
import type { TaskCache } from './task-cache.ts'
import { move, type TaskEntry, unreadableError } from './task-entry.ts'

export interface EntryLoadingDeps {
  readonly cache: Pick<TaskCache, 'grow'>
  readonly loader: Pick<Loader, 'load'>
  /** The entry is read, and what waits is next. */
  readonly proceed: (entry: TaskEntry) => void
  /** Called when an entry may have become settled. */
  readonly settled: () => void
}

export function createEntryLoading(deps: EntryLoadingDeps): (entry: TaskEntry) => void {
  const { cache, loader, proceed, settled } = deps

  function take(entry: TaskEntry, loaded: Loaded): void {
    entry.loading = undefined
    if (loaded.kind !== 'none') {
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
      entry.snapshotSeq = loaded.snapshotSeq
      cache.grow(entry, loaded.bytes)
    }
    proceed(entry)
  }

  function fail(entry: TaskEntry, error: unknown): void {
    entry.loading = undefined
    move(entry, 'unknown')
    rejectAll(entry.queue.splice(0), error)
    settled()
  }

  return (entry) => {
    move(entry, 'loading')
    entry.loading = loader.load(entry.id, entry.storedVersion).then(
      (loaded) => take(entry, loaded),
      (error: unknown) => {
        fail(entry, error)
        throw error
      },
    )
    // Callers that await `loading` get the error. There may be none.
    entry.loading.catch(() => undefined)
  }
}
