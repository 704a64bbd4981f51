/**
 * Live text: what the running attempt of a step has written to its streams so far. It is not in the log. It becomes an
 * `artifact` record in the commit of the step's own record, or it is discarded with its attempt.
 *
 * A reader is sent pieces of it. `Shown` is what the reader holds of text that is not recorded; together with its place
 * in the log it says everything about the reader, so a reader that comes back with both goes on where it was.
 *
 * Invariants (protocols/a2a/live-text.property.test.ts, engine/run/step-streams.test.ts):
 *  T1  a reader that folds its pieces (append: add, otherwise replace) holds the text of one attempt, never of two;
 *  T2  what it holds is a beginning of that attempt's text;
 *  T3  a record closes the text: a reader that saw its attempt gets the rest of it, any other the whole;
 *  T4  text whose attempt ended without a record is replaced by an empty text that says `discarded`;
 *  T5  a reader that is slow gets one piece with everything since its last one: nothing is queued.
 */
import type { Artifact } from './message.ts'
import type { LogRecord } from './records.ts'

export interface LiveText {
  readonly taskId: string
  /** The same for every attempt of the step. */
  readonly artifactId: string
  readonly name: string
  /** Another one for every attempt, also for one after a crash. */
  readonly attempt: string
  readonly text: string
  /** `recording`: its record is being written, and readers get the rest from that. */
  readonly phase: 'open' | 'recording'
}

/** How much of an attempt's text a reader holds, in UTF-16 units. */
export interface Shown {
  readonly artifactId: string
  readonly attempt: string
  readonly length: number
}

/** What a reader is sent of a text. */
export interface Piece {
  readonly artifact: Artifact
  readonly attempt: string
  /** To what the reader holds of the artifact; otherwise in its place. */
  readonly append: boolean
  readonly last: boolean
  readonly state: 'open' | 'recorded' | 'discarded'
}

export const nothingShown: readonly Shown[] = []

/** What a reader that has seen the whole log is to be sent now. */
export function nextPieces(shown: readonly Shown[], texts: readonly LiveText[]): readonly Piece[] {
  if (shown.length === 0 && texts.length === 0) return noPieces
  const gone = shown.filter(({ artifactId }) => !texts.some((one) => one.artifactId === artifactId))
  return [...gone.map(discarded), ...texts.flatMap((text) => pieceOf(text, shown))]
}

/** What a reader is to be sent before a record that ends the task: nothing can follow that. */
export function lastPieces(
  shown: readonly Shown[],
  records: readonly LogRecord[],
): readonly Piece[] {
  return records.reduce(afterRecord, shown).map(discarded)
}

/** The artifact of a record as a reader is to be sent it; undefined for a record without a stream's text. */
export function recordedPiece(shown: readonly Shown[], record: LogRecord): Piece | undefined {
  if (record.type !== 'artifact' || record.attempt === undefined) return undefined
  const { artifact, attempt, last } = record
  const mine = shown.find((one) => one.artifactId === artifact.artifactId)
  const append = mine?.attempt === attempt
  const text = append ? textIn(artifact).slice(mine.length) : textIn(artifact)
  return { artifact: { ...artifact, parts: [{ text }] }, attempt, append, last, state: 'recorded' }
}

export function afterPiece(shown: readonly Shown[], piece: Piece): readonly Shown[] {
  const { artifactId } = piece.artifact
  const others = shown.filter((one) => one.artifactId !== artifactId)
  if (piece.state !== 'open') return others
  const mine = piece.append ? shown.find((one) => one.artifactId === artifactId) : undefined
  const length = (mine?.length ?? 0) + textIn(piece.artifact).length
  return [...others, { artifactId, attempt: piece.attempt, length }]
}

export function afterRecord(shown: readonly Shown[], record: LogRecord): readonly Shown[] {
  if (shown.length === 0 || record.type !== 'artifact') return shown
  const { artifactId } = record.artifact
  return shown.filter((one) => one.artifactId !== artifactId)
}

const noPieces: readonly Piece[] = []

function pieceOf(live: LiveText, shown: readonly Shown[]): readonly Piece[] {
  if (live.phase !== 'open') return noPieces
  const mine = shown.find((one) => one.artifactId === live.artifactId)
  const append = mine?.attempt === live.attempt
  const from = append ? mine.length : 0
  return from < live.text.length ? [piecesFrom(live, from, append)] : noPieces
}

/** Readers that are equally far share one object, so that it is spelled once for all of them. */
const shared = new WeakMap<LiveText, Map<number, Piece>>()

function piecesFrom(live: LiveText, from: number, append: boolean): Piece {
  const known = shared.get(live) ?? new Map<number, Piece>()
  shared.set(live, known)
  const found = known.get(from)
  if (found !== undefined) return found
  const { artifactId, name, attempt, text } = live
  const artifact: Artifact = { artifactId, name, parts: [{ text: text.slice(from) }] }
  const piece: Piece = { artifact, attempt, append, last: false, state: 'open' }
  known.set(from, piece)
  return piece
}

/** An artifact cannot be taken back on the wire, so it is emptied. */
function discarded({ artifactId, attempt }: Shown): Piece {
  const artifact: Artifact = { artifactId, parts: [{ text: '' }] }
  return { artifact, attempt, append: false, last: true, state: 'discarded' }
}

function textIn({ parts: [part] }: Artifact): string {
  return part !== undefined && 'text' in part ? part.text : ''
}
