/**
 * The tasks in memory: those in use (not settled), and the most recently used others. The cache has two generations.
 * When the newer one reaches half of a limit, the older one is dropped as a whole and the newer one becomes the older.
 *
 * T1  At most `tasks` settled tasks are kept, with about `bytes` bytes. If more tasks than that
 *     were in use, later calls drop the excess (T4).
 * T2  A task that is not settled is never dropped, and has one entry.
 * T3  A tenant that uses many tasks does not push out the tasks of the others: every tenant has an equal part of a quarter
 *     of the cache.
 * T4  The cost per call does not grow with the number of tasks in use: after a drop that had to
 *     keep n of them, n calls of `trim` drop nothing.
 */
import { TransientMap } from '../limits/transient-map.ts'
import { createTaskEntry, isSettled, type TaskEntry } from './task-entry.ts'

export interface TaskCache {
  /** Returns the entry of the task, creates it if missing, and marks it as used. */
  use(taskId: string): TaskEntry
  readonly get: (taskId: string) => TaskEntry | undefined
  delete(taskId: string): void
  /** Adds the bytes by which the task of the entry grew. */
  grow(entry: TaskEntry, bytes: number): void
  /** Drops the least recently used entries if a limit is exceeded. */
  trim(): void
  entries(): ReadonlySet<TaskEntry>
}

export interface CacheLimits {
  readonly tasks: number
  readonly bytes: number
}

export function createTaskCache(limits: CacheLimits): TaskCache {
  const half = { tasks: Math.ceil(limits.tasks / 2), bytes: Math.ceil(limits.bytes / 2) }
  let newer = new TransientMap<TaskEntry>()
  let newerBytes = 0
  let older = new TransientMap<TaskEntry>()
  /** Calls of `trim` until the next drop (T4). */
  let callsLeft = 0

  function trim(): void {
    if (newer.size <= half.tasks && newerBytes <= half.bytes) return
    if (callsLeft-- > 0) return
    callsLeft = dropOlder()
    if (half.tasks === 0) dropOlder()
  }

  /** @returns how many entries were kept because they are in use */
  function dropOlder(): number {
    const dropped = older
    older = newer
    newer = new TransientMap()
    newerBytes = 0
    const left = dropped.values().filter(({ id }) => !older.has(id))
    const kept = sharesOf(left, [...older.values(), ...left], half)
    const inUse = left.filter((entry) => !isSettled(entry))
    for (const entry of left) if (kept.has(entry) || !isSettled(entry)) insert(entry)
    return inUse.length
  }

  function insert(entry: TaskEntry): void {
    newer.set(entry.id, entry)
    newerBytes += entry.bytes
  }

  return {
    use(taskId) {
      const known = newer.get(taskId)
      if (known !== undefined) return known
      const entry = older.get(taskId) ?? createTaskEntry(taskId)
      // Called before the insertion, so that the new entry is not dropped when all others are in
      // use.
      trim()
      insert(entry)
      return entry
    },
    get: (taskId) => newer.get(taskId) ?? older.get(taskId),
    delete(taskId) {
      newerBytes -= newer.get(taskId)?.bytes ?? 0
      newer.delete(taskId)
      older.delete(taskId)
    },
    grow(entry, bytes) {
      entry.bytes += bytes
      if (newer.get(entry.id) === entry) newerBytes += bytes
    },
    trim,
    entries: () => new Set([...older.values(), ...newer.values()]),
  }
}

const noEntries: ReadonlySet<TaskEntry> = new Set()

/** The entries to keep when their generation is dropped: for each tenant its newest ones (T3). */
function sharesOf(
  dropped: readonly TaskEntry[],
  all: readonly TaskEntry[],
  half: CacheLimits,
): ReadonlySet<TaskEntry> {
  const tenants = new Set(all.map(({ task }) => task?.tenant))
  tenants.delete(undefined)
  if (tenants.size < 2) return noEntries
  const share = { tasks: half.tasks / 2 / tenants.size, bytes: half.bytes / 2 / tenants.size }
  const used = new Map<string, CacheLimits>()
  const kept = new Set<TaskEntry>()
  for (const entry of dropped.toReversed()) {
    if (entry.task === undefined) continue
    const { tenant } = entry.task
    const { tasks, bytes } = used.get(tenant) ?? { tasks: 0, bytes: 0 }
    const next = { tasks: tasks + 1, bytes: bytes + entry.bytes }
    if (next.tasks > share.tasks || next.bytes > share.bytes) continue
    used.set(tenant, next)
    kept.add(entry)
  }
  return kept
}
