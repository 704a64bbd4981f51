/** Converts records and live text to the frames of one stream. The id of a frame is a `Cursor`. */

import {
  afterChunk,
  afterRecord,
  noTextShown,
  recordedChunk,
  type TextChunk,
  type TextPosition,
} from '../../../core/messages/live-text.ts'
import { isInterrupted, isTerminal, type State } from '../../../core/states.ts'
import type { LiveTextUpdate } from '../../../engine/streams/log-reader.ts'
import { type FrameBatch, frameText } from '../../../http/event-stream.ts'
import { notificationText } from '../../../http/json-rpc.ts'
import type { Call } from '../call.ts'
import type { Codec } from '../codec/codec.ts'
import type { Folded, Spell } from './fan-out.ts'
import { chunkEvent } from './task-events.ts'

/** The parts of a request that its frames depend on. An open stream keeps only these. */
export interface Reader {
  readonly codec: Codec
  readonly envelope: Call['envelope']
  readonly openedBy: 'send' | 'subscription'
  /** Whether the reader gets the notifications of the RFCs between frames. */
  readonly notify: boolean
}

/**
 * The frames up to the end of the batch, or up to the one that ends the stream. The first `start.n`
 * frames of the record `start.seq` are skipped.
 * @param shown the unrecorded text that the reader has before the first frame
 */
export function batchOf(
  reader: Reader,
  start: Cursor,
  folded: readonly Folded[],
  spell: Spell,
  shown: readonly TextPosition[] = noTextShown,
): FrameBatch {
  let text = ''
  let held = shown
  for (const one of folded) {
    const seen = closing(held, one)
    held = afterRecord(held, one.record)
    const place: Cursor = { seq: one.record.seq, n: seen.record.seq === start.seq ? start.n : 0 }
    text += framesOf(reader, { ...place, shown: held }, seen, spell)
    if (isLast(reader, one)) return { text, last: true }
  }
  return { text, last: false }
}

/**
 * The events of a record that completes a text. If the reader has a part of that text, only the
 * rest is sent.
 */
function closing(held: readonly TextPosition[], folded: Folded): Folded {
  const chunk = held.length === 0 ? undefined : recordedChunk(held, folded.record)
  return chunk?.append ? { ...folded, events: [chunkEvent(folded.task, chunk)] } : folded
}

/** Frames of live text after the record `after`. */
export function liveBatch(
  { codec, envelope }: Reader,
  { chunks, after }: LiveTextUpdate,
  shown: readonly TextPosition[],
  spellChunk: (codec: Codec, chunk: TextChunk) => string | undefined,
): FrameBatch {
  let text = ''
  let held = shown
  for (const chunk of chunks) {
    held = afterChunk(held, chunk)
    const data = spellChunk(codec, chunk)
    const id = cursorId({ ...afterSnapshot(after), shown: held })
    if (data !== undefined) text += frameText({ id, data: envelope(data) })
  }
  return { text, last: false }
}

/**
 * The frames of one record. Each event reserves two numbers, for its frame and its notification, so
 * ids do not depend on whether the reader gets notifications.
 */
function framesOf(
  reader: Reader,
  { seq, n: skip, shown = noTextShown }: Cursor,
  folded: Folded,
  spell: Spell,
): string {
  const { codec, envelope, notify } = reader
  let text = ''
  let n = 0
  for (const event of folded.events) {
    n += 2
    if (n - 1 > skip) {
      const closes = event.kind === 'status' && endsWith(reader, event.task.state)
      const data = spell(codec, event, closes)
      const id = cursorId({ seq, n: n - 1, shown })
      if (data !== undefined) text += frameText({ id, data: envelope(data) })
    }
    if (!notify || n <= skip) continue
    const notification = codec.notification(event)
    if (notification === undefined) continue
    const data = notificationText(notification.method, notification.params)
    text += frameText({ id: cursorId({ seq, n, shown }), data })
  }
  return text
}

/** Whether the record moved the task into a state that ends the stream. */
function isLast(reader: Reader, { record, before, task }: Folded): boolean {
  const arrived = before?.state !== task.state || record.type === 'asked-again'
  return arrived && endsWith(reader, task.state)
}

export function endsWith({ openedBy }: Reader, state: State): boolean {
  return isTerminal(state) || (openedBy === 'send' && isInterrupted(state))
}

/**
 * SSE ids, `sequence.n`: the nth frame of the record with that sequence number. A snapshot at
 * version v has the id `(v+1).0`, because it contains everything before the next record. So every
 * stream is continued by the same rule: read from the record `sequence` on, and skip its first n
 * frames.
 *
 * A frame of live text belongs to no record. It has the id of a snapshot taken at the same position. While a reader has
 * text that is not recorded, every id also names that text: `sequence.n+artifactId~attempt~length`. A reader that
 * reconnects gets the rest of that text, or the text of the attempt that replaced it, or a frame that discards it.
 */
export interface Cursor {
  readonly seq: number
  readonly n: number
  /** The unrecorded text that the reader has. Absent: none. */
  readonly shown?: readonly TextPosition[]
}

/**
 * The most texts that an id names. A reader with more texts gets the others again from their
 * beginning.
 */
const MOST_SHOWN = 32

export function cursorId({ seq, n, shown = noTextShown }: Cursor): string {
  const held = shown
    .slice(-MOST_SHOWN)
    .map((one) => `+${one.artifactId}~${one.attempt}~${one.length}`)
  return `${seq}.${n}${held.join('')}`
}

export function afterSnapshot(version: number): Cursor {
  return { seq: version + 1, n: 0 }
}

/**
 * Parses an id. Undefined for any other text: the stream then starts with a snapshot. Sequence
 * numbers start at 1.
 */
export function readCursor(id: string | undefined): Cursor | undefined {
  const [place = '', ...held] = (id?.trim() ?? '').split('+')
  const found = /^([1-9]\d{0,14})\.(\d{1,6})$/.exec(place)
  const shown = held.slice(0, MOST_SHOWN).map(readShown)
  if (found?.[1] === undefined || found[2] === undefined || shown.includes(undefined)) {
    return undefined
  }
  const known = shown.filter((one) => one !== undefined)
  return {
    seq: Number(found[1]),
    n: Number(found[2]),
    ...(known.length === 0 ? {} : { shown: known }),
  }
}

function readShown(text: string): TextPosition | undefined {
  const found = /^([\w-]{1,64})~([\w-]{1,64})~([1-9]\d{0,14})$/.exec(text)
  if (found?.[1] === undefined || found[2] === undefined) return undefined
  return { artifactId: found[1], attempt: found[2], length: Number(found[3]) }
}
