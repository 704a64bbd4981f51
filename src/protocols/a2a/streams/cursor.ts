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
import { noTextShown, type TextPosition } from '../../../core/messages/live-text.ts'

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
