/**
 * A stream of a task: a snapshot (or, with `Last-Event-ID`, none), then every event after it, from the log and then live.
 *
 *  R1  the first frame is the Task (A2A 1.0 §3.1.2, §3.1.6), unless the reader continues;
 *  R2  a continued stream repeats nothing and leaves nothing out, also after a restart and when the task has ended;
 *  R3  opened by a send it closes after an interrupted or terminal frame, a subscription only after a terminal one;
 *  R4  it stays open while the task is stopped.
 */
import type { LogRecord } from '../../core/records.ts'
import type { Signal } from '../../core/signal.ts'
import { isInterrupted, isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { type EventFrame, type FrameSource, frameText } from '../../wire/event-stream.ts'
import { notificationText } from '../../wire/json-rpc.ts'
import type { A2AContext, Answer, Call } from './call.ts'
import { createEnding } from './closing.ts'
import type { TaskView } from './codec/codec.ts'
import { afterSnapshot, type Cursor, cursorId } from './cursor.ts'
import { RFC_NOTIFICATIONS } from './extensions.ts'
import type { TaskEvent } from './task-events.ts'

export interface StreamOptions {
  readonly task: Task
  readonly view: TaskView
  readonly openedBy: 'send' | 'subscription'
  /** Continue here in place of a snapshot. */
  readonly from?: Cursor | undefined
}

export function taskStream(a2a: A2AContext, call: Call, options: StreamOptions): Answer {
  const signal = createEnding()
  const frames = framesOf(a2a, call, options, signal)
  const source: FrameSource = {
    pulse: a2a.pulse,
    async next() {
      const { done, value } = await frames.next()
      if (done) return { text: '', last: true }
      return { text: frameText(value), last: false }
    },
    close() {
      a2a.closing.delete(source)
      signal.close()
    },
  }
  a2a.closing.add(source)
  return { frames: source }
}

async function* framesOf(
  a2a: A2AContext,
  call: Call,
  { task, view, openedBy, from }: StreamOptions,
  signal: Signal,
): AsyncGenerator<EventFrame, void> {
  const { codec, envelope, caller } = call
  const ends = (state: Task['state']): boolean =>
    isTerminal(state) || (openedBy === 'send' && isInterrupted(state))
  const start = from ?? afterSnapshot(task.version)
  if (from === undefined) {
    yield { id: cursorId(start), data: envelope(JSON.stringify(codec.sentTask(task, view))) }
  }
  if (start.seq > task.version && ends(task.state)) return

  // What a continued stream missed is folded from the beginning: an event shows the task as it stood then.
  let now = from === undefined ? task : undefined
  const after = now?.version ?? 0
  const records = await a2a.engine.subscribe(caller, task.id, { after, signal })
  for await (const record of records) {
    const before = now
    const folded = a2a.fanOut.fold(before, record)
    now = folded.task
    if (record.seq < start.seq) continue
    const skip = record.seq === start.seq ? start.n : 0
    yield* framesOfRecord(a2a, call, record.seq, folded.events, ends, skip)
    // A task that ended before we looked still has its last record to come; nothing follows that.
    if (isLast(record, before, now) && ends(now.state)) return
  }
}

/** Each event has two numbers, one for its frame and one for its notification: ids do not depend on who asks. */
function* framesOfRecord(
  { fanOut }: A2AContext,
  call: Call,
  seq: number,
  events: readonly TaskEvent[],
  ends: (state: Task['state']) => boolean,
  skip: number,
): Generator<EventFrame, void> {
  const { codec, envelope, active } = call
  const notify = active.has(RFC_NOTIFICATIONS)
  let n = 0
  for (const event of events) {
    n += 2
    const id = (index: number): string => cursorId({ seq, n: index })
    if (n - 1 > skip) {
      const text = fanOut.text(codec, event, closes(event, ends))
      if (text !== undefined) yield { id: id(n - 1), data: envelope(text) }
    }
    if (!notify || n <= skip) continue
    const notification = codec.notification(event)
    if (notification === undefined) continue
    yield { id: id(n), data: notificationText(notification.method, notification.params) }
  }
}

function closes(event: TaskEvent, ends: (state: Task['state']) => boolean): boolean {
  return event.kind === 'status' && ends(event.task.state)
}

/** The record that brought the task into the state that ends the stream. */
function isLast(record: LogRecord, before: Task | undefined, now: Task): boolean {
  return before?.state !== now.state || record.type === 'asked-again'
}
