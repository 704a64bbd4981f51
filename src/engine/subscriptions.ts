/**
 * Records of a task, first from the store, then live, in order, without gap or repeat. A reader that is slow keeps only
 * its place: when its small queue is full the rest is read from the store again, so memory stays bounded.
 */
import type { LogRecord } from '../core/records.ts'
import type { Signal } from '../core/signal.ts'
import { isTerminal, type State } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { TaskStore } from '../ports/store/tasks.ts'
import { TransientMap } from './transient-map.ts'

const BUFFER = 128
const PAGE = 256

/** Records that follow each other. Whoever reads live gets the same object. */
export interface Batch {
  readonly records: readonly LogRecord[]
  /** The task before the first of them; absent where there was none, or where they were read from the store. */
  readonly before?: Task | undefined
}

/** Somebody's place in the log of a task. */
export interface Reading {
  /** What follows, as soon as there is something; undefined: nothing will. Asked again only when it has answered. */
  next(): Batch | undefined | Promise<Batch | undefined>
  /** Whether all that was written so far has been given: what follows comes with the task before it. */
  readonly live: boolean
  /** A `next` that waits answers undefined. Closing twice is closing once. */
  close(): void
}

export interface Subscriptions {
  publish(task: Task, records: readonly LogRecord[], before: Task | undefined): void
  /** Calls back after every write to the task. Returns how to stop. */
  watch(taskId: string, changed: (task: Task) => void): () => void
  /** The same for every task. */
  watchAll(changed: (task: Task) => void): () => void
  /** Ends after the last record of a task that ended (`ended`: it has already). */
  follow(taskId: string, after: number, ended: boolean): Reading
  /** The same, record by record, until the signal fires. */
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
  store: Pick<TaskStore, 'records'>,
  versionOf: (taskId: string) => number | undefined,
): Subscriptions {
  const byTask = new TransientMap<Set<Reader>>()
  const watchers = new TransientMap<Set<(task: Task) => void>>()
  const everything = new Set<(task: Task) => void>()
  let count = 0

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

  const room: Room = {
    records: (taskId, after) => store.records(taskId, after, PAGE),
    leave(reader) {
      const readers = byTask.get(reader.taskId)
      if (!readers?.delete(reader)) return
      if (readers.size === 0) byTask.delete(reader.taskId)
      count--
    },
  }

  function follow(taskId: string, after: number, ended: boolean): Reading {
    const reader = new Reader(room, taskId, after, versionOf(taskId) !== after, ended)
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

/** What its readers have in common. */
interface Room {
  records(taskId: string, after: number): Promise<readonly LogRecord[]>
  leave(reader: Reader): void
}

/** A class, because there may be ten thousand of them, and most only wait. */
class Reader implements Reading {
  readonly taskId: string
  readonly #room: Room
  #seq: number
  /** Records were left out of the queue: the store has them. */
  #behind: boolean
  #ended: boolean
  #closed = false
  #queue: Batch[] | undefined
  #wake: ((next: ReturnType<Reading['next']>) => void) | undefined

  constructor(room: Room, taskId: string, after: number, behind: boolean, ended: boolean) {
    this.taskId = taskId
    this.#room = room
    this.#seq = after
    this.#behind = behind
    this.#ended = ended
  }

  get live(): boolean {
    return !this.#behind
  }

  offer(batch: Batch): void {
    if (this.#behind) return
    const queue = this.#queue ?? []
    if (queue.length > 0 && sizeOf(queue) + batch.records.length > BUFFER) {
      this.#behind = true
      return
    }
    queue.push(batch)
    this.#queue = queue
    const wake = this.#wake
    this.#wake = undefined
    wake?.(this.next())
  }

  next(): ReturnType<Reading['next']> {
    if (this.#closed) return undefined
    for (let batch = this.#queue?.shift(); batch !== undefined; batch = this.#queue?.shift()) {
      if (lastOf(batch) <= this.#seq) continue
      if (batch.records[0]?.seq === this.#seq + 1) return this.#give(batch)
      // Somebody else wrote in between.
      this.#behind = true
      this.#queue = undefined
    }
    this.#queue = undefined
    if (this.#behind) return this.#read()
    if (this.#ended) {
      this.close()
      return undefined
    }
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  async #read(): Promise<Batch | undefined> {
    // Whatever is published from here on is queued; what came before is in the store.
    this.#behind = false
    const records = await this.#room.records(this.taskId, this.#seq)
    if (records.length === PAGE) {
      this.#behind = true
      this.#queue = undefined
    }
    return records.length === 0 || this.#closed ? this.next() : this.#give({ records })
  }

  #give(batch: Batch): Batch {
    this.#seq = lastOf(batch)
    if (batch.records.some(isLast)) this.close()
    return batch
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#queue = undefined
    this.#room.leave(this)
    this.#wake?.(undefined)
    this.#wake = undefined
  }
}

function sizeOf(queue: readonly Batch[]): number {
  return queue.reduce((sum, { records }) => sum + records.length, 0)
}

function lastOf({ records }: Batch): number {
  return records.at(-1)?.seq ?? 0
}

/** The record that ends a task bears the name of the state it ends in. */
function isLast({ type }: LogRecord): boolean {
  return isTerminal(type as State)
}
