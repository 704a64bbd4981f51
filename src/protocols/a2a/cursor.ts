/**
 * SSE ids, `sequence.n`: the nth frame of the record with that sequence number. A snapshot taken at version v has the id
 * `(v+1).0`: everything before the next record is in it, and nothing of that record. So one rule continues them all:
 * read from the record `sequence` on and leave out its first n frames.
 *
 * A frame of live text is in no record; it has the id of a snapshot at its place. While a reader holds text that is not
 * recorded, every id also says which: `sequence.n+artifactId~attempt~length`. So a reader that comes back gets the rest
 * of that text, or the text of another attempt in its place, or learns that it was discarded.
 */
import { noTextShown, type TextPosition } from '../../core/live-text.ts'

export interface Cursor {
  readonly seq: number
  readonly n: number
  /** What the reader holds of text that is not recorded; absent: nothing. */
  readonly shown?: readonly TextPosition[]
}

/** At most so many texts are named: a reader that holds more gets the others anew. */
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

/** Undefined for anything that is not an id of ours (records count from 1): the stream then starts with a snapshot, which loses nothing. */
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
