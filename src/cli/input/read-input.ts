import { type Input, UsageError } from '../command.ts'

/** The value of a flag that takes one of a few words. @throws UsageError that names them */
export function wordIn<T extends string>(
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
