/** Reads the arguments and flags of a command. Each function throws a UsageError that says what the user should give. */
import type { Json } from '../../core/values/json.ts'
import { type Input, UsageError } from '../command.ts'

/** @param usage what the error says */
export function expectNoWords(input: Input, usage: string): void {
  if (input.words.length > 0) throw new UsageError(usage)
}

/** The only argument of the command. @param usage what the error says */
export function readOnlyWord(input: Input, usage: string): string {
  const [word, ...more] = input.words
  if (word === undefined || more.length > 0) throw new UsageError(usage)
  return word
}

/** The value of a flag that takes one of a few words. */
export function readChoice<T extends string>(
  input: Input,
  flag: string,
  words: readonly T[],
): T | undefined {
  const text = input.text(flag)
  if (text === undefined) return undefined
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  throw new UsageError(`there is no ${flag} "${text}"; there are ${words.join(', ')}`)
}

export function readJsonFlag(input: Input, flag: string): Json | undefined {
  const text = input.text(flag)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new UsageError(`--${flag} takes JSON, such as '"text"' or '{"a": 1}'`, { cause })
  }
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * An instant, as an ISO 8601 text or as a distance from now, such as `12h` or `30d`.
 * @returns epoch milliseconds; NaN when the text is neither
 */
export function parseInstant(text: string, now: number, direction: 'past' | 'future'): number {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count === undefined) return Date.parse(text)
  const distance = Number(count) * (unitsMs[unit] ?? 0)
  return direction === 'past' ? now - distance : now + distance
}
