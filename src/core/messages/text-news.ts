/**
 * Live text on its way from the process that runs a task to other processes. A message has what is new since the last
 * one, and names every text that the run has, so a text that is not named is gone.
 *
 * A text is told in pieces, and the texts of a receiver are always prefixes of the sender's. A receiver that missed a
 * piece can tell (`withNews` returns undefined), and asks for everything.
 */
import type { LiveText, TextPosition } from './live-text.ts'

/** The new piece of one text. It may be empty. */
export interface TextPiece extends Omit<LiveText, 'taskId' | 'text'> {
  /** Where the piece begins in the text, in UTF-16 units. */
  readonly from: number
  readonly text: string
}

/** All live text of a task, apart from what was told before. */
export interface TextNews {
  readonly taskId: string
  /** The token of the run that writes the texts. */
  readonly token: string
  /** The version of the task for that run. The texts belong between this record and the next. */
  readonly version: number
  /** Grows with each message of the run. */
  readonly number: number
  readonly pieces: readonly TextPiece[]
}

export interface Told {
  readonly pieces: readonly TextPiece[]
  /** How much of each text the receivers have afterwards. */
  readonly positions: readonly TextPosition[]
  /** How many UTF-16 units were told. */
  readonly size: number
  /** There is more to tell than `limit`. */
  readonly isPartial: boolean
}

/** What is new in `texts` for receivers that have `positions`: at most `limit` UTF-16 units. */
export function tell(
  texts: readonly LiveText[],
  positions: readonly TextPosition[],
  limit: number,
): Told {
  let left = limit
  let isPartial = false
  const pieces = texts.map(({ artifactId, name, attempt, phase, text }): TextPiece => {
    const had = positions.find((one) => one.artifactId === artifactId && one.attempt === attempt)
    const from = Math.min(had?.length ?? 0, text.length)
    const piece = text.slice(from, from + wholeCharacters(text.slice(from, from + left)))
    left -= piece.length
    isPartial ||= from + piece.length < text.length
    return { artifactId, name, attempt, phase, from, text: piece }
  })
  const told = pieces.map(({ artifactId, attempt, from, text }) => {
    return { artifactId, attempt, length: from + text.length }
  })
  return { pieces, positions: told, size: limit - left, isPartial }
}

/** The texts of a receiver after a message. Undefined: it misses an earlier piece. */
export function withNews(
  known: readonly LiveText[],
  { taskId, pieces }: Pick<TextNews, 'taskId' | 'pieces'>,
): readonly LiveText[] | undefined {
  const texts: LiveText[] = []
  for (const { from, text: piece, ...rest } of pieces) {
    const had = known.find(
      ({ artifactId, attempt }) => artifactId === rest.artifactId && attempt === rest.attempt,
    )
    const before = had?.text ?? ''
    if (from > before.length) return undefined
    const end = from + piece.length
    const text = end > before.length ? before.slice(0, from) + piece : before
    texts.push(same(had, text, rest.phase) ?? { taskId, ...rest, text })
  }
  return texts
}

/** A text that did not change stays the same object, because readers share what is made from it. */
function same(
  had: LiveText | undefined,
  text: string,
  phase: LiveText['phase'],
): LiveText | undefined {
  return had?.text === text && had.phase === phase ? had : undefined
}

/** The length of the text without the first half of a surrogate pair at its end. */
export function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
