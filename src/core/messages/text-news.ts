/**
 * Sends live text from the process that runs a task to other processes. Each message has the text
 * written since the last one, and names every live text of the run: a text that is not named no
 * longer exists.
 * The text of a receiver is always a prefix of the sender's text. If a receiver missed a message,
 * `withNews` returns undefined, and the receiver asks for the whole text.
 */
import type { LiveText, TextPosition } from './live-text.ts'

/** The new piece of one text. It may be empty. */
export interface TextPiece extends Omit<LiveText, 'taskId' | 'text'> {
  /** Where the piece begins in the text, in UTF-16 units. */
  readonly from: number
  readonly text: string
}

/** What was added to all live texts of a task since the last message. */
export interface TextNews {
  readonly taskId: string
  /** The token of the run that writes the texts. */
  readonly token: string
  /**
   * The version of the task in that run. The texts were written after this record and before the
   * next.
   */
  readonly version: number
  /** The number of this message. It grows by one with each message of the run. */
  readonly number: number
  readonly pieces: readonly TextPiece[]
}

export interface Told {
  readonly pieces: readonly TextPiece[]
  /** How much of each text the receivers have after this message. */
  readonly positions: readonly TextPosition[]
  /** The number of UTF-16 units in this message. */
  readonly size: number
  /** The rest did not fit into `limit` and follows in another message. */
  readonly isPartial: boolean
}

/**
 * The message that brings receivers with `positions` up to date with `texts`, in at most `limit`
 * UTF-16 units.
 */
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

/** The texts of a receiver after a message. Undefined if the receiver missed an earlier message. */
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

/**
 * Returns the same object for a text that did not change, because readers cache what they derive
 * from it.
 */
function same(
  had: LiveText | undefined,
  text: string,
  phase: LiveText['phase'],
): LiveText | undefined {
  return had?.text === text && had.phase === phase ? had : undefined
}

/** The length of the text without an unpaired first half of a surrogate pair at its end. */
export function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
