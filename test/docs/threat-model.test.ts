/** The threat model of SECURITY.md names tests, and these exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './documents.ts'

const page = readFileSync(join(root, 'SECURITY.md'), 'utf8')
const model = page.slice(page.indexOf('## Threat model'), page.indexOf('### The tests'))
const doors = model
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.slice(2, -2).split(' | '))
const tests = [...page.matchAll(/^\| (T\d+) \| `([^`]+)` \| (.+) \|$/gm)].map(
  ([, number = '', path = '', title = '']) => ({ number, path, title }),
)

function numbersIn(text: string): readonly string[] {
  return text.match(/\bT\d+\b/g) ?? []
}

it.each(doors)('%s, %s: what they hold and the worst that they can do name a test', (...cells) => {
  expect(cells).toHaveLength(4)
  const [, , holds = '', worst = ''] = cells
  for (const cell of [holds, worst]) expect(numbersIn(cell)).not.toEqual([])
})

it('names no test that is not listed, and lists none that is not named', () => {
  const listed = tests.map(({ number }) => number)
  expect([...new Set(numbersIn(model))].sort()).toEqual([...listed].sort())
})

it.each(tests)('$number exists: $title', ({ path, title }) => {
  expect(existsSync(join(root, path))).toBe(true)
  expect(readFileSync(join(root, path), 'utf8')).toContain(title)
})
