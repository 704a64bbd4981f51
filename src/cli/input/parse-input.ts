import { parseArgs } from 'node:util'
import { type Command, commonFlags, type Input, UsageError } from '../command.ts'

/** @throws UsageError that names the flag */
export function parseInput(command: Command, args: readonly string[]): Input {
  const flags = { ...command.flags, ...commonFlags }
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: value !== undefined,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  )
  const { values, positionals } = parseFlags(args, options)
  const texts = (flag: string): readonly string[] => {
    const value = values[flag]
    return Array.isArray(value) ? value.map(String) : []
  }
  return {
    words: positionals,
    has: (flag) => values[flag] !== undefined,
    texts,
    // The last value counts, so that a flag given after a shell alias overrides the value in the alias.
    text: (flag) => texts(flag).at(-1),
  }
}

/** @returns the end of the error: the known flag nearest to an unknown one, if there is one */
function suggestFlag(sentence: string, names: readonly string[]): string {
  const [, typed] = /^Unknown option '--([^']*)'/.exec(sentence) ?? []
  const name = typed === undefined ? undefined : findNearest(typed, names)
  return name === undefined ? '' : `; did you mean "--${name}"?`
}

function parseFlags(
  args: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>['options'],
): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], options: options ?? {}, allowPositionals: true })
  } catch (cause) {
    const [sentence = 'unknown flag'] = cause instanceof Error ? cause.message.split('. ') : []
    throw new UsageError(`${sentence}${suggestFlag(sentence, Object.keys(options ?? {}))}`, {
      cause,
    })
  }
}

/** The known word nearest to a mistyped one. @returns undefined when none is near */
export function findNearest(typed: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((word) => ({ word, edits: distance(typed, word) }))
    .sort((a, b) => a.edits - b.edits)
  if (best === undefined) return undefined
  const most = best.word.length < 4 ? 1 : Math.max(2, Math.floor(best.word.length / 4))
  return best.edits <= most ? best.word : undefined
}

/** The Levenshtein distance: the number of letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
