/**
 * Manages the readers and watchers of tasks, and notifies them of each write. `log-reader.ts`
 * implements one reader.
 */

import type { LiveText, TextPosition } from '../../core/messages/live-text.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Signal } from '../../core/signal.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { TransientMap } from '../limits/transient-map.ts'
import {
  LogReader,
  PAGE,
  type ReaderDeps,
  type RecordBatch,
  type TaskReader,
} from './log-reader.ts'

export interface Subscriptions extends Pick<TaskWatchers, 'watch' | 'watchAll' | 'notify'> {
  /**
   * Notifies readers of a write. Without records it is not known which ones are new, so readers
   * read the store.
   */
  publish(task: Task, records: readonly LogRecord[], before: Task | undefined): void
  /** Ids of tasks that have a reader or a watcher. */
  readonly taskIds: () => readonly string[]
  /** Whether the task has a reader or watcher, or a watcher of all tasks wants it. */
  readonly isFollowed: (taskId: string) => boolean
  /** Whether the live text of the task has a reader. */
  readonly isTextRead: (taskId: string) => boolean
  /**
   * Reads the log after a sequence number, then each write. Ends after the last record of a task
   * that has ended.
   * @param task the task as read from the store
   * @param shown the unrecorded text that the reader has; undefined for a reader of records alone
   */
  follow(task: ReadTask, after: number, shown?: readonly TextPosition[]): TaskReader
  /** Reads records alone, one by one, until the signal aborts. */
  open(
    taskId: string,
    after: number,
    ended: boolean,
    signal?: Signal,
  ): AsyncGenerator<LogRecord, void>
  readonly readers: () => number
}

type ReadTask = Pick<Task, 'id' | 'state' | 'run' | 'version'>

/** Access to live text for the readers of this process. */
export interface ReaderTexts {
  /**
   * The texts for a reader that has seen the records up to that version. Undefined if they are not
   * known.
   */
  of(taskId: string, version: number): readonly LiveText[] | undefined
  /** Calls `changed` with the id of each task whose texts change. */
  watch(changed: (taskId: string) => void): void
  /** Called when a reader of live text begins. */
  open?(task: ReadTask): void
}

/** Reads the log of a task after a record. Empty for a task that does not exist. */
export type ReadRecords = (
  taskId: string,
  after: number,
  limit: number,
) => Promise<readonly LogRecord[]>

/**
 * @param versionOf the version of a task if it is in memory; a reader at that version need not read
 * the store
 */
export function createSubscriptions(
  readRecords: ReadRecords,
  versionOf: (taskId: string) => number | undefined,
  texts: ReaderTexts,
): Subscriptions {
  const byTask = new TransientMap<Set<LogReader>>()
  const watchers = createTaskWatchers()
  let count = 0

  texts.watch((taskId) => {
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
    records: (taskId, after) => readRecords(taskId, after, PAGE),
    liveTexts: texts.of,
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
    isTextRead: (taskId) => [...(byTask.get(taskId) ?? [])].some((reader) => reader.wantsText),
    watch: watchers.watch,
    watchAll: watchers.watchAll,
    notify: watchers.notify,
    follow(task, after, shown) {
      if (shown !== undefined) texts.open?.(task)
      return follow(task.id, after, isTerminal(task.state), shown)
    },
    open: (taskId, after, ended, signal) => recordsOf(() => follow(taskId, after, ended), signal),
    readers: () => count,
  }
}

/**
 * Yields the records of a reader. It begins with the first `next` and is closed with the generator.
 */
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

/** Callbacks after every write to one task, or to any task. */
interface TaskWatchers {
  /** Returns a function that stops the watch. */
  watch(taskId: string, changed: (task: Task) => void): () => void
  /**
   * @param wants whether writes of other processes to the task are reported too. Default: always
   */
  watchAll(changed: (task: Task) => void, wants?: (taskId: string) => boolean): () => void
  readonly taskIds: () => readonly string[]
  readonly isWatched: (taskId: string) => boolean
  notify(task: Task): void
}

function createTaskWatchers(): TaskWatchers {
  const byTask = new TransientMap<Set<(task: Task) => void>>()
  const ofAllTasks = new Map<(task: Task) => void, (taskId: string) => boolean>()
  return {
    watch(taskId, changed) {
      const watchers = byTask.get(taskId) ?? new Set()
      byTask.set(taskId, watchers.add(changed))
      return () => {
        watchers.delete(changed)
        if (watchers.size === 0 && byTask.get(taskId) === watchers) byTask.delete(taskId)
      }
    },
    watchAll(changed, wants = () => true) {
      ofAllTasks.set(changed, wants)
      return () => ofAllTasks.delete(changed)
    },
    taskIds: () => [...byTask.keys()],
    isWatched: (taskId) =>
      byTask.has(taskId) || [...ofAllTasks.values()].some((wants) => wants(taskId)),
    notify(task) {
      for (const changed of byTask.get(task.id) ?? []) changed(task)
      for (const changed of ofAllTasks.keys()) changed(task)
    },
  }
}
