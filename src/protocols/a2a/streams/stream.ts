/**
 * The stream of a task: a snapshot (except with `Last-Event-ID`), then every later event, first
 * from the log and then live.
 *
 *  R1  The first frame is the Task (A2A 1.0 §3.1.2, §3.1.6), unless the reader continues a stream.
 *  R2  A continued stream repeats and omits nothing, also after a restart and when the task has ended.
 *  R3  A stream of a send closes after an interrupted or terminal frame, a subscription only after a terminal one.
 *  R4  A stream stays open while the task is stopped. It then keeps only its position in memory,
 *      because ten thousand may be open.
 */
import { evolve } from '../../../core/evolve.ts'
import { noTextShown, type TextPosition } from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { LiveTextUpdate, RecordBatch, TaskReader } from '../../../engine/streams/log-reader.ts'
import {
  type FrameBatch,
  type FrameSource,
  frameText,
  type Heartbeat,
} from '../../../http/event-stream.ts'
import type { A2AContext, Answer, Call } from '../call.ts'
import type { TaskView } from '../codec/codec.ts'
import { RFC_NOTIFICATIONS } from '../extensions.ts'
import { foldRecords, spellOnce } from './fan-out.ts'
import {
  afterSnapshot,
  batchOf,
  type Cursor,
  cursorId,
  endsWith,
  liveBatch,
  type Reader,
} from './frames.ts'

export interface StreamOptions {
  readonly task: Task
  readonly view: TaskView
  readonly openedBy: Reader['openedBy']
  /** Records after `task` that are already known. */
  readonly laterRecords?: readonly LogRecord[]
  /** The task after `laterRecords`. */
  readonly latest?: Task
  /** The cursor at which to continue, without a snapshot. */
  readonly from?: Cursor | undefined
}

export function taskStream(a2a: A2AContext, call: Call, options: StreamOptions): Answer {
  const { task, openedBy, latest = task, from } = options
  const { codec, envelope, caller, active } = call
  const reader: Reader = { codec, envelope, openedBy, notify: active.has(RFC_NOTIFICATIONS) }
  if (from !== undefined) {
    const over = from.seq > task.version && endsWith(reader, task.state)
    return keepOpen(a2a, new TaskFrames(a2a, caller, reader, { task, start: from, over }))
  }
  const beginning = beginningOf(reader, options)
  // The stream is already complete, so nothing has to stay open.
  if (beginning.last) return { frames: beginning.text }
  const start = afterSnapshot(latest.version)
  return keepOpen(a2a, new TaskFrames(a2a, caller, reader, { task: latest, start, beginning }))
}

function keepOpen({ closing }: A2AContext, frames: TaskFrames): Answer {
  closing.add(frames)
  return { frames }
}

/** The frames that are known at the start: the snapshot and the records after it. */
function beginningOf(reader: Reader, options: StreamOptions): FrameBatch {
  const { task, view, laterRecords = [], latest } = options
  const start = afterSnapshot(task.version)
  const data = reader.envelope(JSON.stringify(reader.codec.sentTask(task, view)))
  const snapshot = frameText({ id: cursorId(start), data })
  if (endsWith(reader, task.state)) return { text: snapshot, last: true }
  const { text, last } = batchOf(reader, start, foldRecords(task, laterRecords, latest), spellOnce)
  return { text: snapshot + text, last }
}

const END: FrameBatch = { text: '', last: true }

interface Place {
  /** The task at this position. */
  readonly task: Task
  readonly start: Cursor
  readonly beginning?: FrameBatch
  /** Set when no further frame follows. */
  readonly over?: boolean
}

/**
 * A class, because many streams are open: an instance keeps only the parts of the request that its
 * frames need.
 */
class TaskFrames implements FrameSource {
  readonly #a2a: A2AContext
  readonly #caller: Caller
  readonly #reader: Reader
  readonly #taskId: string
  readonly #start: Cursor
  #beginning: FrameBatch | undefined
  /** The task at the current position, while the stream reads the log. */
  #task: Task | undefined
  #reading: TaskReader | undefined
  #over: boolean

  constructor(a2a: A2AContext, caller: Caller, reader: Reader, place: Place) {
    this.#a2a = a2a
    this.#caller = caller
    this.#reader = reader
    this.#taskId = place.task.id
    this.#start = place.start
    this.#beginning = place.beginning
    this.#task = place.task
    this.#over = place.over ?? false
  }

  get heartbeat(): Heartbeat {
    return this.#a2a.heartbeat
  }

  next(): FrameBatch | Promise<FrameBatch> {
    const beginning = this.#beginning
    if (beginning === undefined) return this.#over ? END : this.#following()
    this.#beginning = undefined
    return beginning
  }

  close(): void {
    this.#over = true
    this.#task = undefined
    this.#reading?.close()
    this.#a2a.closing.delete(this)
  }

  async #following(): Promise<FrameBatch> {
    const { seq, shown = noTextShown } = this.#start
    const place = { after: seq - 1, shown }
    this.#reading ??= await this.#a2a.engine.follow(this.#caller, this.#taskId, place)
    const reading = this.#reading
    if (this.#over) reading.close()
    for (;;) {
      if (reading.live) this.#task = undefined
      const batch = await reading.next()
      if (batch === undefined) return END
      if ('chunks' in batch) return this.#liveText(batch, reading.shown)
      const { shown: held } = reading
      const folded = this.#a2a.fanOut.fold(await this.#taskBefore(batch), batch)
      this.#task = folded.at(-1)?.task
      const frames = batchOf(this.#reader, this.#start, folded, this.#a2a.fanOut.spell, held)
      if (frames.text !== '' || frames.last) return frames
    }
  }

  async #liveText(batch: LiveTextUpdate, shown: readonly TextPosition[]): Promise<FrameBatch> {
    const { engine, fanOut } = this.#a2a
    const task = await engine.get(this.#caller, this.#taskId)
    return liveBatch(this.#reader, batch, shown, (codec, chunk) =>
      fanOut.spellChunk(codec, chunk, task),
    )
  }

  /**
   * The task before a batch. A live batch contains it. While the stream reads the log, it is folded
   * from the records.
   */
  async #taskBefore({ before, records }: RecordBatch): Promise<Task | undefined> {
    const version = (records[0]?.seq ?? 1) - 1
    if (before !== undefined || version === 0) return before
    if (this.#task?.version === version) return this.#task
    let task: Task | undefined
    for await (const record of await this.#a2a.engine.subscribe(this.#caller, this.#taskId)) {
      if (record.seq > version) break
      task = evolve(task, record)
    }
    return task
  }
}
