import { describe, expect, it } from 'vitest'
import { MAX_FUNCTION_LINES, problemsIn } from './code-limits.mjs'
import { sourcesIn } from './sources.mjs'

const lines = (count) => Array.from({ length: count }, () => '  act()').join('\n')

describe('the limits of the code', () => {
  it('find a function that is too long, and not one of the longest length', () => {
    const text = [
      `function longest() {\n${lines(MAX_FUNCTION_LINES - 2)}\n}`,
      `const tooLong = () => {\n${lines(MAX_FUNCTION_LINES - 1)}\n}`,
    ].join('\n')
    expect(problemsIn([{ path: 'src/a.ts', text }])).toEqual([
      'src/a.ts:81: a function of 81 lines',
    ])
    expect(problemsIn([{ path: 'src/a.test.ts', text }])).toEqual([])
  })

  it.each(['never', 'unknown', 'any'])('find a cast to %s', (type) => {
    const file = { path: 'src/a.ts', text: `const a = b as ${type}\nconst c = b as string` }
    expect(problemsIn([file])).toEqual([`src/a.ts:1: a cast to ${type}`])
  })

  it.each(['src', 'conformance'])('hold in %s', (folder) => {
    const files = sourcesIn(folder)
    expect(files.length).toBeGreaterThan(0)
    expect(problemsIn(files)).toEqual([])
  })
})
