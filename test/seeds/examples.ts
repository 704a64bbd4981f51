/**
 * The examples of a seed document, read from `fixtures/`, where they stand as they were written: with comments, and with
 * commas too many and too few, and `[...]` for a list.
 */
import { readFileSync } from 'node:fs'

// biome-ignore lint/suspicious/noExplicitAny: examples and answers are compared as they are
export type Loose = any

export type Examples = (heading: string) => Loose

export function examplesOf(file: string): Examples {
  const text = readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8')
  const found = new Map<string, string>()
  for (const [, heading = '', example = ''] of text.matchAll(EXAMPLE)) found.set(heading, example)
  return (heading) => {
    const example = found.get(heading)
    if (example === undefined) throw new Error(`${file} has no example "${heading}"`)
    return JSON.parse(repaired(example))
  }
}

/** How many there are: a test that forgets one is found out. */
export function headingsOf(file: string): readonly string[] {
  const text = readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8')
  return [...text.matchAll(EXAMPLE)].map(([, heading = '']) => heading)
}

const EXAMPLE = /^## (.+)\n\n```json\n([\s\S]*?)```/gm

/** A string, a comment, or one other character. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|[\s\S]/g

/** Strict JSON out of what people write in documents. */
export function repaired(example: string): string {
  return (example.match(TOKEN) ?? [])
    .filter((token) => !token.startsWith('//'))
    .join('')
    .replaceAll('[...]', '["..."]')
    .replace(/,(\s*[}\]])/g, '$1')
    .replace(/(["}\]\d])(\s*\n\s*")/g, '$1,$2')
}
