/** Who reads and watches which task, and how they learn of each write. `log-reader.ts` is one reader. */
import type { TextPosition } from '../core/live-text.ts'
import type { LogRecord } from '../core/records.ts'
import type { Signal } from '../core/signal.ts'
import type { Task } from '../core/task.ts'
import type { TaskStore } from '../ports/store/tasks.ts'
import type { LiveTexts } from './live-texts.ts'
import {
  LogReader,
  PAGE,
  type ReaderDeps,
  type RecordBatch,
  type TaskReader,
} from './log-reader.ts'
import { createTaskWatchers, type TaskWatchers } from './task-watchers.ts'
import { TransientMap } from './transient-map.ts'

export interface Subscriptions extends Pick<TaskWatchers, 'watch' | 'watchAll' | 'notify'> {
  /** Without records: the task changed, and which records are new is not known. Readers read the store. */
  publish(task: Task, records: readonly LogRecord[], before: Task | undefined): void
  /** Tasks with a reader or a watcher. */
  readonly taskIds: () => readonly string[]
  /** Whether the task has a reader or a watcher, or a subscriber to all tasks matches it. */
  readonly isFollowed: (taskId: string) => boolean
  /**
   * Reads the log after a sequence number, then each write. Ends after the last record of a task that ended.
   * @param ended whether the task has ended already
   * @param shown the unrecorded text that the reader holds; undefined for a reader of records alone
   */
  follow(taskId: string, after: number, ended: boolean, shown?: readonly TextPosition[]): TaskReader
  /** Reads records alone, one by one, until the signal fires. */
  open(
    taskId: string,
    after: number,
    ended: boolean,
    signal?: Signal,
  ): AsyncGenerator<LogRecord, void>
  readonly readers: () => number
}

/** @param versionOf the version of a task that is in memory; a reader at that version has nothing to read */
export function createSubscriptions(
  store: Pick<TaskStore, 'records'>,
  versionOf: (taskId: string) => number | undefined,
  live: LiveTexts,
): Subscriptions {
  const byTask = new TransientMap<Set<LogReader>>()
  const watchers = createTaskWatchers()
  let count = 0

  live.watch((taskId) => {
    for (const reader of byTask.get(taskId) ?? []) reader.textChanged()
  })

  function publish(task: Task, records: readonly LogRecord[], before: Task | undefined): void {
    watchers.notify(task)
    const readers = byTask.get(task.id)
    if (readers === undefined) return
    if (records.length === 0) {
      for (const reader of readers) reader.missed(task.version)
      return
    }
    const batch: RecordBatch = { records, before }
    for (const reader of readers) reader.offer(batch)
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
    shown?: readonly TextPosition[],
  ): TaskReader {
    const behind = versionOf(taskId) !== after
    const reader = new LogReader(readerDeps, { taskId, after, behind, ended, shown })
    const readers = byTask.get(taskId) ?? new Set()
    byTask.set(taskId, readers.add(reader))
    count++
    return reader
  }

  return {
    publish,
    taskIds: () => [...new Set([...byTask.keys(), ...watchers.taskIds()])],
    isFollowed: (taskId) => byTask.has(taskId) || watchers.isWatched(taskId),
    watch: watchers.watch,
    watchAll: watchers.watchAll,
    notify: watchers.notify,
    follow,
    open: (taskId, after, ended, signal) => recordsOf(() => follow(taskId, after, ended), signal),
    readers: () => count,
  }
}

/** The records of a reading, which begins with the first `next` and is closed with the generator. */
async function* recordsOf(
  begin: () => TaskReader,
  signal: Signal | undefined,
): AsyncGenerator<LogRecord, void> {
  if (signal?.aborted) return
  const reading = begin()
  const stop = (): void => reading.close()
  signal?.addEventListener('abort', stop)
  try {
    for (;;) {
      const batch = await reading.next()
      if (batch === undefined) return
      if ('chunks' in batch) continue
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
