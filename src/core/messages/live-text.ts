/**
 * Live text: what the running attempt of a step has written to its streams so far. It is not in the log. It becomes an
 * `artifact` record in the commit of the step's own record, or it is discarded with its attempt.
 *
 * Readers get it in chunks. `TextPosition` says how much of the unrecorded text a reader has.
 * Together with its position in the log this is the whole state of a reader: one that reconnects
 * with both continues where it was.
 *
 * Invariants (protocols/a2a/streams/live-text.property.test.ts, engine/run/operations/step-streams.test.ts):
 *  T1  a reader that folds its chunks (append or replace) has the text of one attempt, never of two;
 *  T2  the text that a reader has is a prefix of that attempt's text;
 *  T3  a record closes the text: a reader that saw its attempt gets the rest, any other reader the whole text;
 *  T4  text whose attempt ended without a record is replaced by an empty text with the state `discarded`;
 *  T5  a slow reader gets one chunk with everything since its last one; nothing is queued.
 */

import type { LogRecord } from '../records.ts'
import type { Artifact } from './message.ts'

export interface LiveText {
  readonly taskId: string
  /** The same id for every attempt of the step. */
  readonly artifactId: string
  readonly name: string
  /** A different id for every attempt, also after a crash. */
  readonly attempt: string
  readonly text: string
  /** `recording` while the record is being written. Readers get the rest of the text from the record. */
  readonly phase: 'open' | 'recording'
}

/** How much of an attempt's text a reader has, in UTF-16 units. */
export interface TextPosition {
  readonly artifactId: string
  readonly attempt: string
  readonly length: number
}

/** A part of a live text, as a reader gets it. */
export interface TextChunk {
  readonly artifact: Artifact
  readonly attempt: string
  /** True: add it to the text that the reader has. False: replace that text. */
  readonly append: boolean
  readonly last: boolean
  readonly state: 'open' | 'recorded' | 'discarded'
}

export const noTextShown: readonly TextPosition[] = []

/** The chunks for a reader that has seen the whole log. */
export function nextChunks(
  shown: readonly TextPosition[],
  texts: readonly LiveText[],
): readonly TextChunk[] {
  if (shown.length === 0 && texts.length === 0) return noChunks
  const gone = shown.filter(({ artifactId }) => !texts.some((one) => one.artifactId === artifactId))
  return [...gone.map(discarded), ...texts.flatMap((text) => chunkOf(text, shown))]
}

/**
 * The chunks that a reader gets before the record that ends the task, because nothing can follow
 * that record.
 */
export function lastChunks(
  shown: readonly TextPosition[],
  records: readonly LogRecord[],
): readonly TextChunk[] {
  return records.reduce(afterRecord, shown).map(discarded)
}

/**
 * The chunk that a reader gets for a record. Undefined if the record contains no text of a stream.
 */
export function recordedChunk(
  shown: readonly TextPosition[],
  record: LogRecord,
): TextChunk | undefined {
  if (record.type !== 'artifact' || record.attempt === undefined) return undefined
  const { artifact, attempt, last } = record
  const mine = shown.find((one) => one.artifactId === artifact.artifactId)
  const append = mine?.attempt === attempt
  const text = append ? textIn(artifact).slice(mine.length) : textIn(artifact)
  return { artifact: { ...artifact, parts: [{ text }] }, attempt, append, last, state: 'recorded' }
}

export function afterChunk(
  shown: readonly TextPosition[],
  chunk: TextChunk,
): readonly TextPosition[] {
  const { artifactId } = chunk.artifact
  const others = shown.filter((one) => one.artifactId !== artifactId)
  if (chunk.state !== 'open') return others
  const mine = chunk.append ? shown.find((one) => one.artifactId === artifactId) : undefined
  const length = (mine?.length ?? 0) + textIn(chunk.artifact).length
  return [...others, { artifactId, attempt: chunk.attempt, length }]
}

export function afterRecord(
  shown: readonly TextPosition[],
  record: LogRecord,
): readonly TextPosition[] {
  if (shown.length === 0 || record.type !== 'artifact') return shown
  const { artifactId } = record.artifact
  return shown.filter((one) => one.artifactId !== artifactId)
}

const noChunks: readonly TextChunk[] = []

function chunkOf(live: LiveText, shown: readonly TextPosition[]): readonly TextChunk[] {
  if (live.phase !== 'open') return noChunks
  const mine = shown.find((one) => one.artifactId === live.artifactId)
  const append = mine?.attempt === live.attempt
  const from = append ? mine.length : 0
  return from < live.text.length ? [chunkFrom(live, from, append)] : noChunks
}

/** Readers at the same position share one object, so that it is serialized once for all of them. */
const shared = new WeakMap<LiveText, Map<number, TextChunk>>()

function chunkFrom(live: LiveText, from: number, append: boolean): TextChunk {
  const known = shared.get(live) ?? new Map<number, TextChunk>()
  shared.set(live, known)
  const found = known.get(from)
  if (found !== undefined) return found
  const { artifactId, name, attempt, text } = live
  const artifact: Artifact = { artifactId, name, parts: [{ text: text.slice(from) }] }
  const chunk: TextChunk = { artifact, attempt, append, last: false, state: 'open' }
  known.set(from, chunk)
  return chunk
}

/** The protocols have no way to remove an artifact, so its text is replaced by an empty one. */
function discarded({ artifactId, attempt }: TextPosition): TextChunk {
  const artifact: Artifact = { artifactId, parts: [{ text: '' }] }
  return { artifact, attempt, append: false, last: true, state: 'discarded' }
}

function textIn({ parts: [part] }: Artifact): string {
  return part !== undefined && 'text' in part ? part.text : ''
}
