/** Who reads and watches which task, and how they learn of what is written (`log-reader.ts` is one reader). */
import type { Shown } from '../core/live-text.ts'
import type { LogRecord } from '../core/records.ts'
import type { Signal } from '../core/signal.ts'
import type { Task } from '../core/task.ts'
import type { TaskStore } from '../ports/store/tasks.ts'
import type { LiveTexts } from './live-texts.ts'
import { type Batch, LogReader, PAGE, type ReaderDeps, type Reading } from './log-reader.ts'
import { TransientMap } from './transient-map.ts'

export interface Subscriptions {
  publish(task: Task, records: readonly LogRecord[], before: Task | undefined): void
  /** Calls back after every write to the task. Returns how to stop. */
  watch(taskId: string, changed: (task: Task) => void): () => void
  /** The same for every task. */
  watchAll(changed: (task: Task) => void): () => void
  /**
   * Ends after the last record of a task that ended (`ended`: it has already).
   * @param shown what the reader holds of unrecorded text; undefined for a reader of records alone
   */
  follow(taskId: string, after: number, ended: boolean, shown?: readonly Shown[]): Reading
  /** Records alone, one by one, until the signal fires. */
  open(
    taskId: string,
    after: number,
    ended: boolean,
    signal?: Signal,
  ): AsyncGenerator<LogRecord, void>
  readonly readers: () => number
}

/** @param versionOf the version of a task that is in memory: a reader that has seen that much has nothing to read */
export function createSubscriptions(
  store: Pick<TaskStore, 'records'>,
  versionOf: (taskId: string) => number | undefined,
  live: LiveTexts,
): Subscriptions {
  const byTask = new TransientMap<Set<LogReader>>()
  const watchers = new TransientMap<Set<(task: Task) => void>>()
  const everything = new Set<(task: Task) => void>()
  let count = 0

  live.watch((taskId) => {
    for (const reader of byTask.get(taskId) ?? []) reader.textChanged()
  })

  function publish(task: Task, records: readonly LogRecord[], before: Task | undefined): void {
    for (const changed of watchers.get(task.id) ?? []) changed(task)
    for (const changed of everything) changed(task)
    const readers = byTask.get(task.id)
    if (readers === undefined) return
    const batch: Batch = { records, before }
    for (const reader of readers) reader.offer(batch)
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

  const readerDeps: ReaderDeps = {
    records: (taskId, after) => store.records(taskId, after, PAGE),
    liveTexts: live.of,
    closed(reader) {
      const readers = byTask.get(reader.taskId)
      if (!readers?.delete(reader)) return
      if (readers.size === 0) byTask.delete(reader.taskId)
      count--
    },
  }

  function follow(
    taskId: string,
    after: number,
    ended: boolean,
    shown?: readonly Shown[],
  ): Reading {
    const behind = versionOf(taskId) !== after
    const reader = new LogReader(readerDeps, { taskId, after, behind, ended, shown })
    const readers = byTask.get(taskId) ?? new Set()
    byTask.set(taskId, readers.add(reader))
    count++
    return reader
  }

  async function* open(
    taskId: string,
    after: number,
    ended: boolean,
    signal?: Signal,
  ): AsyncGenerator<LogRecord, void> {
    if (signal?.aborted) return
    const reading = follow(taskId, after, ended)
    const stop = (): void => reading.close()
    signal?.addEventListener('abort', stop)
    try {
      for (;;) {
        const batch = await reading.next()
        if (batch === undefined) return
        if ('pieces' in batch) continue
        for (const record of batch.records) {
          if (signal?.aborted) return
          yield record
        }
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      reading.close()
    }
  }

  return { publish, watch, watchAll, follow, open, readers: () => count }
}
