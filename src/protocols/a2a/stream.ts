/**
 * A stream of a task: a snapshot (or, with `Last-Event-ID`, none), then every event after it, from the log and then live.
 *
 *  R1  the first frame is the Task (A2A 1.0 §3.1.2, §3.1.6), unless the reader continues;
 *  R2  a continued stream repeats nothing and leaves nothing out, also after a restart and when the task has ended;
 *  R3  opened by a send it closes after an interrupted or terminal frame, a subscription only after a terminal one;
 *  R4  it stays open while the task is stopped, and then keeps its place and little else: ten thousand may wait.
 */
import { evolve } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import { isInterrupted, isTerminal, type State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Batch, Reading } from '../../engine/subscriptions.ts'
import { type Burst, type FrameSource, frameText, type Pulse } from '../../wire/event-stream.ts'
import { notificationText } from '../../wire/json-rpc.ts'
import type { A2AContext, Answer, Call } from './call.ts'
import type { Codec, TaskView } from './codec/codec.ts'
import { afterSnapshot, type Cursor, cursorId } from './cursor.ts'
import { RFC_NOTIFICATIONS } from './extensions.ts'
import { type Folded, foldRecords } from './fan-out.ts'

export interface StreamOptions {
  readonly task: Task
  readonly view: TaskView
  readonly openedBy: 'send' | 'subscription'
  /** What is known to follow. */
  readonly rest?: readonly LogRecord[]
  /** Continue here in place of a snapshot. */
  readonly from?: Cursor | undefined
}

export function taskStream(a2a: A2AContext, call: Call, options: StreamOptions): Answer {
  const frames = new TaskFrames(a2a, call, options)
  const { beginning } = frames
  // All of it is there already: nothing has to be kept open.
  if (beginning?.last === true) return { frames: beginning.text }
  a2a.closing.add(frames)
  return { frames }
}

const END: Burst = { text: '', last: true }

/** A class, because it is what an open stream costs: nothing of the request stays but what its frames need. */
class TaskFrames implements FrameSource {
  readonly #a2a: A2AContext
  readonly #codec: Codec
  readonly #caller: Caller
  readonly #envelope: Call['envelope']
  readonly #notify: boolean
  readonly #openedBy: StreamOptions['openedBy']
  readonly #taskId: string
  #start: Cursor
  /** What is said at once: the snapshot and what is known to follow it. */
  #beginning: Burst | undefined
  /** The task at the place that is reached, for as long as the log is being caught up with. */
  #task: Task | undefined
  #reading: Reading | undefined
  #over: boolean

  constructor(a2a: A2AContext, call: Call, options: StreamOptions) {
    const { task, view, openedBy, rest = [], from } = options
    const { codec, envelope } = call
    this.#a2a = a2a
    this.#codec = codec
    this.#caller = call.caller
    this.#envelope = envelope
    this.#notify = call.active.has(RFC_NOTIFICATIONS)
    this.#openedBy = openedBy
    this.#taskId = task.id
    this.#start = from ?? afterSnapshot(task.version)
    this.#task = task
    this.#over = this.#start.seq > task.version && this.#ends(task.state)
    if (from !== undefined) return
    const data = envelope(JSON.stringify(codec.sentTask(task, view)))
    const snapshot = frameText({ id: cursorId(this.#start), data })
    this.#beginning = { text: snapshot, last: this.#over }
    if (this.#over || rest.length === 0) return
    const folded = foldRecords(task, rest)
    const { text, last } = this.#burst(folded)
    this.#beginning = { text: snapshot + text, last }
    this.#over = last
    this.#task = folded.at(-1)?.task
    this.#start = afterSnapshot(this.#task?.version ?? 0)
  }

  get pulse(): Pulse {
    return this.#a2a.pulse
  }

  get beginning(): Burst | undefined {
    return this.#beginning
  }

  next(): Burst | Promise<Burst> {
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

  async #following(): Promise<Burst> {
    const after = this.#start.seq - 1
    this.#reading ??= await this.#a2a.engine.follow(this.#caller, this.#taskId, { after })
    const reading = this.#reading
    if (this.#over) reading.close()
    for (;;) {
      if (reading.live) this.#task = undefined
      const batch = await reading.next()
      if (batch === undefined) return END
      const folded = this.#a2a.fanOut.fold(await this.#taskBefore(batch), batch)
      this.#task = folded.at(-1)?.task
      const burst = this.#burst(folded)
      if (burst.text !== '' || burst.last) return burst
    }
  }

  /** Live records come with it; where a reader catches up it was folded last, or is folded now. */
  async #taskBefore({ before, records }: Batch): Promise<Task | undefined> {
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

  #burst(folded: readonly Folded[]): Burst {
    let text = ''
    for (const one of folded) {
      text += this.#frames(one)
      if (this.#isLast(one)) return { text, last: true }
    }
    return { text, last: false }
  }

  /** Each event has two numbers, one for its frame and one for its notification: ids do not depend on who asks. */
  #frames({ record: { seq }, events }: Folded): string {
    const { fanOut } = this.#a2a
    const skip = seq === this.#start.seq ? this.#start.n : 0
    let text = ''
    let n = 0
    for (const told of events) {
      const { event } = told
      n += 2
      if (n - 1 > skip) {
        const closes = event.kind === 'status' && this.#ends(event.task.state)
        const data = fanOut.text(this.#codec, told, closes)
        const id = cursorId({ seq, n: n - 1 })
        if (data !== undefined) text += frameText({ id, data: this.#envelope(data) })
      }
      if (!this.#notify || n <= skip) continue
      const notification = this.#codec.notification(event)
      if (notification === undefined) continue
      const data = notificationText(notification.method, notification.params)
      text += frameText({ id: cursorId({ seq, n }), data })
    }
    return text
  }

  /** It brought the task into the state that ends the stream: of a task that ended before we looked it is still to come. */
  #isLast({ record, before, task }: Folded): boolean {
    return (before?.state !== task.state || record.type === 'asked-again') && this.#ends(task.state)
  }

  #ends(state: State): boolean {
    return isTerminal(state) || (this.#openedBy === 'send' && isInterrupted(state))
  }
}
