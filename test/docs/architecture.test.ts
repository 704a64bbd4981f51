/** `docs/architecture.md` names files that exist, and its walks stay short to read. A step stands for several files. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './documents.ts'

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const walks = page
  .split(/^## /m)
  .filter((section) => section.startsWith('Walk '))
  .map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    steps: [...section.matchAll(/^\d+\. (.*)$/gm)].map(([, step = '']) => step),
  }))

function filesIn(text: string): readonly string[] {
  return [...text.matchAll(/`((?:src|scripts)\/[^`]+)`/g)].map(([, path = '']) => path)
}

it('has the five walks', () => {
  expect(walks.map(({ title }) => title)).toEqual([
    'Walk 1: send',
    'Walk 2: pause',
    'Walk 3: event',
    'Walk 4: suspend over ACP',
    'Walk 5: deadline after a restart',
  ])
})

it('names only files that exist', () => {
  expect(filesIn(page).filter((path) => !existsSync(join(root, path)))).toEqual([])
})

describe.each(walks)('$title', ({ steps }) => {
  it('has at most 15 steps, and each begins with a file', () => {
    expect(steps.length).toBeGreaterThan(5)
    expect(steps.length).toBeLessThanOrEqual(15)
    for (const step of steps) expect(step).toMatch(/^`src\/[^`]+\.ts` \S/)
  })
})
