/**
 * Records of a task, first from the store, then live, in order, without gap or repeat. A reader that is slow keeps only
 * its place: when its small buffer is full the rest is read from the store again, so memory stays bounded.
 */
import type { LogRecord } from '../core/records.ts'
import type { Signal } from '../core/signal.ts'
import { isTerminal, type State } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { TaskStore } from '../ports/task-store.ts'

const BUFFER = 128
const PAGE = 256

interface Reader {
  buffer: LogRecord[]
  /** Records were left out of the buffer: the store has them. */
  behind: boolean
  wake: (() => void) | undefined
}

export interface Subscriptions {
  publish(task: Task, records: readonly LogRecord[]): void
  /** Calls back after every write to the task. Returns how to stop. */
  watch(taskId: string, changed: (task: Task) => void): () => void
  /** The same for every task. */
  watchAll(changed: (task: Task) => void): () => void
  /** Ends after the last record of a task that ended (`ended`: it has already), or when the signal fires. */
  open(
    taskId: string,
    after: number,
    ended: boolean,
    signal?: Signal,
  ): AsyncGenerator<LogRecord, void>
  readonly readers: () => number
}

/** @param versionOf the version of a task that is in memory: who has seen that much has nothing to read */
export function createSubscriptions(
  store: TaskStore,
  versionOf: (taskId: string) => number | undefined,
): Subscriptions {
  const byTask = new Map<string, Set<Reader>>()
  const watchers = new Map<string, Set<(task: Task) => void>>()
  const everything = new Set<(task: Task) => void>()
  let count = 0

  function publish(task: Task, records: readonly LogRecord[]): void {
    for (const changed of watchers.get(task.id) ?? []) changed(task)
    for (const changed of everything) changed(task)
    const readers = byTask.get(task.id)
    if (readers === undefined) return
    for (const reader of readers) {
      if (!reader.behind && reader.buffer.length + records.length <= BUFFER) {
        reader.buffer.push(...records)
      } else {
        reader.behind = true
      }
      reader.wake?.()
    }
  }

  function watch(taskId: string, changed: (task: Task) => void): () => void {
    const watching = watchers.get(taskId) ?? new Set()
    watchers.set(taskId, watching.add(changed))
    return () => {
      watching.delete(changed)
      if (watching.size === 0 && watchers.get(taskId) === watching) watchers.delete(taskId)
    }
  }

  function watchAll(changed: (task: Task) => void): () => void {
    everything.add(changed)
    return () => everything.delete(changed)
  }

  async function* open(
    taskId: string,
    after: number,
    ended: boolean,
    signal?: Signal,
  ): AsyncGenerator<LogRecord, void> {
    const behind = versionOf(taskId) !== after
    const reader: Reader = { buffer: [], behind, wake: undefined }
    const readers = byTask.get(taskId) ?? new Set()
    byTask.set(taskId, readers.add(reader))
    count++
    const stop = (): void => reader.wake?.()
    signal?.addEventListener('abort', stop)
    let seq = after
    try {
      while (!signal?.aborted) {
        if (reader.behind) {
          // Whatever is published from here on is buffered; what came before is in the store.
          reader.behind = false
          reader.buffer = []
          for (;;) {
            const page = await store.records(taskId, seq, PAGE)
            for (const record of page) {
              if (signal?.aborted) return
              seq = record.seq
              yield record
              if (isLast(record)) return
            }
            if (page.length < PAGE) break
          }
          continue
        }
        const next = reader.buffer.shift()
        if (next !== undefined) {
          if (next.seq <= seq) continue
          seq = next.seq
          yield next
          if (isLast(next)) return
          continue
        }
        if (ended) return
        await new Promise<void>((resolve) => {
          reader.wake = resolve
        })
        reader.wake = undefined
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      readers.delete(reader)
      if (readers.size === 0 && byTask.get(taskId) === readers) byTask.delete(taskId)
      count--
    }
  }

  return { publish, watch, watchAll, open, readers: () => count }
}

/** The record that ends a task bears the name of the state it ends in. */
function isLast(record: LogRecord): boolean {
  return isTerminal(record.type as State)
}
