/**
 * One reader of a task: records first from the store, then live, and between them the live text of steps.
 *
 * Invariants (subscriptions.test.ts, protocols/a2a/streams/live-text.property.test.ts):
 *  Q1  records come in order, without gap or repeat;
 *  Q2  a slow reader keeps its position and a small queue; records that do not fit are read from the store;
 *  Q3  live text is compared when the reader asks and has seen every record, so it is never queued;
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

/** Records that follow each other. All live readers get the same object. */
export interface RecordBatch {
  readonly records: readonly LogRecord[]
  /** The task before the first of them; absent where there was none, or where they were read from the store. */
  readonly before?: Task | undefined
}

/** Live text for one reader, behind the record `after` and before the next one. */
export interface LiveTextUpdate {
  readonly chunks: readonly TextChunk[]
  readonly after: number
}

/** Undefined: nothing will follow. */
export type ReaderUpdate = RecordBatch | LiveTextUpdate | undefined

/** The position of one reader in the log of a task. */
export interface TaskReader {
  /** The next delivery, as soon as there is one. Call it again only after it has resolved. */
  next(): ReaderUpdate | Promise<ReaderUpdate>
  /** Whether every write so far has been delivered. Later batches come with the task before them. */
  readonly live: boolean
  /** What the reader held of unrecorded text before the last delivery. */
  readonly shown: readonly TextPosition[]
  /** A `next` that waits answers undefined. Closing twice is closing once. */
  close(): void
}

export interface ReaderDeps {
  records(taskId: string, after: number): Promise<readonly LogRecord[]>
  /** Undefined: which texts there are after that record is not known. */
  liveTexts(taskId: string, version: number): readonly LiveText[] | undefined
  closed(reader: LogReader): void
}

export interface ReaderStart {
  readonly taskId: string
  readonly after: number
  /** There are records behind `after` that are not published any more. */
  readonly behind: boolean
  /** The task has ended. */
  readonly ended: boolean
  /** What the reader holds of unrecorded text; undefined for a reader of records alone. */
  readonly shown: readonly TextPosition[] | undefined
}

const noChunks: readonly TextChunk[] = []
const nothingHeld: readonly TextPosition[] = []

/** A class, because there may be ten thousand of them, and most only wait. */
export class LogReader implements TaskReader {
  readonly taskId: string
  readonly wantsText: boolean
  readonly #deps: ReaderDeps
  #seq: number
  /** Records were left out of the queue: the store has them. */
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

  /** Records were published. */
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

  /** The task has reached that version, and the records were not published here. */
  missed(version: number): void {
    if (version <= this.#seq) return
    this.#behind = true
    this.#wake(() => this.next())
  }

  /** The live text of the task has changed. */
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
      // Another process wrote in between.
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
    // Records published from here on are queued; earlier ones are in the store.
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

/** The record that ends a task bears the name of the state it ends in. */
function isLast({ type }: LogRecord): boolean {
  return isTerminal(type as State)
}
