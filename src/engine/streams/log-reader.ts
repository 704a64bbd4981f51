/**
 * One reader of a task: records first from the store, then live, and between them the live text of steps.
 *
 * Invariants (subscriptions.test.ts, protocols/a2a/streams/live-text.property.test.ts):
 *  Q1  records come in order, without gap or repeat;
 *  Q2  a slow reader keeps its position and a small queue; records that do not fit are read from the store;
 *  Q3  live text is sent when the reader asks and has seen every record, so it is never queued;
 *  Q4  text that was shown and not recorded is discarded before the record that ends the task.
 */
import {
  afterChunk,
  afterRecord,
  type LiveText,
  lastChunks,
  nextChunks,
  type TextChunk,
  type TextPosition,
} from '../../core/messages/live-text.ts'
import type { LogRecord } from '../../core/records.ts'
import { isTerminal, type State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'

const BUFFER = 128
export const PAGE = 256

/** Consecutive records. All live readers get the same object. */
export interface RecordBatch {
  readonly records: readonly LogRecord[]
  /**
   * The task before the first of these records. Absent if it did not exist, or if the records were
   * read from the store.
   */
  readonly before?: Task | undefined
}

/** Live text for one reader, written after the record `after` and before the next one. */
export interface LiveTextUpdate {
  readonly chunks: readonly TextChunk[]
  readonly after: number
}

/** What a reader gets next. Undefined: nothing will follow. */
export type ReaderUpdate = RecordBatch | LiveTextUpdate | undefined

/** The position of one reader in the log of a task. */
export interface TaskReader {
  /**
   * Resolves with the next update as soon as there is one. Must not be called again before it has
   * resolved.
   */
  next(): ReaderUpdate | Promise<ReaderUpdate>
  /**
   * Whether every write so far has been delivered. Later batches then contain the task before them.
   */
  readonly live: boolean
  /** The unrecorded text that the reader had before the last update. */
  readonly shown: readonly TextPosition[]
  /** Ends a pending `next` with undefined. May be called repeatedly. */
  close(): void
}

export interface ReaderDeps {
  records(taskId: string, after: number): Promise<readonly LogRecord[]>
  /** The live texts after that record. Undefined if they are not known. */
  liveTexts(taskId: string, version: number): readonly LiveText[] | undefined
  closed(reader: LogReader): void
}

export interface ReaderStart {
  readonly taskId: string
  readonly after: number
  /**
   * Whether there are records after `after` that will not be published any more and have to be read
   * from the store.
   */
  readonly behind: boolean
  /** Whether the task has ended. */
  readonly ended: boolean
  /** The unrecorded text that the reader has; undefined for a reader of records alone. */
  readonly shown: readonly TextPosition[] | undefined
}

const noChunks: readonly TextChunk[] = []
const nothingHeld: readonly TextPosition[] = []

/**
 * A class, because there may be ten thousand readers, and instances without closures take less
 * memory.
 */
export class LogReader implements TaskReader {
  readonly taskId: string
  readonly wantsText: boolean
  readonly #deps: ReaderDeps
  #seq: number
  /** Set when records did not fit into the queue and have to be read from the store. */
  #behind: boolean
  #ended: boolean
  #closed = false
  #held: readonly TextPosition[]
  #heldBefore: readonly TextPosition[]
  #queue: RecordBatch[] | undefined
  #resolve: ((next: ReaderUpdate | Promise<ReaderUpdate>) => void) | undefined

  constructor(deps: ReaderDeps, { taskId, after, behind, ended, shown }: ReaderStart) {
    this.taskId = taskId
    this.#deps = deps
    this.wantsText = shown !== undefined
    this.#seq = after
    this.#behind = behind
    this.#ended = ended
    this.#held = shown ?? nothingHeld
    this.#heldBefore = this.#held
  }

  get live(): boolean {
    return !this.#behind
  }

  get shown(): readonly TextPosition[] {
    return this.#heldBefore
  }

  /** Called with published records. */
  offer(batch: RecordBatch): void {
    if (this.#behind) return
    const queue = this.#queue ?? []
    if (queue.length > 0 && sizeOf(queue) + batch.records.length > BUFFER) {
      this.#behind = true
      return
    }
    queue.push(batch)
    this.#queue = queue
    this.#wake(() => this.next())
  }

  /** Called when the task has reached a version whose records were not published here. */
  missed(version: number): void {
    if (version <= this.#seq) return
    this.#behind = true
    this.#wake(() => this.next())
  }

  /** Called when the live text of the task has changed. */
  textChanged(): void {
    if (this.#resolve === undefined) return
    const chunks = this.#newChunks()
    if (chunks.length > 0) this.#wake(() => this.#giveChunks(chunks))
  }

  next(): ReaderUpdate | Promise<ReaderUpdate> {
    if (this.#closed) return undefined
    for (let batch = this.#queue?.shift(); batch !== undefined; batch = this.#queue?.shift()) {
      if (lastOf(batch) <= this.#seq) continue
      if (batch.records[0]?.seq === this.#seq + 1) return this.#give(batch)
      // Another process wrote records in between.
      this.#behind = true
      this.#queue = undefined
    }
    this.#queue = undefined
    if (this.#behind) return this.#read()
    const chunks = this.#newChunks()
    if (chunks.length > 0) return this.#giveChunks(chunks)
    if (this.#ended) {
      this.close()
      return undefined
    }
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  async #read(): Promise<ReaderUpdate> {
    // Records published from now on are queued; earlier ones are read from the store.
    this.#behind = false
    const records = await this.#deps.records(this.taskId, this.#seq)
    if (records.length === PAGE) {
      this.#behind = true
      this.#queue = undefined
    }
    return records.length === 0 || this.#closed ? this.next() : this.#give({ records })
  }

  #give(batch: RecordBatch): ReaderUpdate {
    const ends = batch.records.some(isLast)
    const left = ends ? lastChunks(this.#held, batch.records) : noChunks
    if (left.length > 0) {
      this.#queue = [batch, ...(this.#queue ?? [])]
      return this.#giveChunks(left)
    }
    this.#seq = lastOf(batch)
    this.#heldBefore = this.#held
    this.#held = batch.records.reduce(afterRecord, this.#held)
    if (ends) this.close()
    return batch
  }

  #newChunks(): readonly TextChunk[] {
    if (!this.wantsText) return noChunks
    const texts = this.#deps.liveTexts(this.taskId, this.#seq)
    return texts === undefined ? noChunks : nextChunks(this.#held, texts)
  }

  #giveChunks(chunks: readonly TextChunk[]): LiveTextUpdate {
    this.#heldBefore = this.#held
    this.#held = chunks.reduce(afterChunk, this.#held)
    return { chunks, after: this.#seq }
  }

  #wake(answer: () => ReaderUpdate | Promise<ReaderUpdate>): void {
    const resolve = this.#resolve
    if (resolve === undefined) return
    this.#resolve = undefined
    resolve(answer())
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#queue = undefined
    this.#deps.closed(this)
    this.#wake(() => undefined)
  }
}

function sizeOf(queue: readonly RecordBatch[]): number {
  return queue.reduce((sum, { records }) => sum + records.length, 0)
}

function lastOf({ records }: RecordBatch): number {
  return records.at(-1)?.seq ?? 0
}

/** Whether the record ends the task. The type of such a record is the name of the final state. */
function isLast({ type }: LogRecord): boolean {
  return isTerminal(type as State)
}
