import { describe, expect, it } from 'vitest'
import { MAX_FILE_LINES, MAX_FUNCTION_LINES, problemsIn } from './code-limits.mjs'
import { sourcesIn } from './sources.mjs'

const lines = (count) => Array.from({ length: count }, () => '  act()').join('\n')

describe('the limits of the code', () => {
  it('find a function that is too long, and not one of the longest length', () => {
    const text = [
      `function longest() {\n${lines(MAX_FUNCTION_LINES - 2)}\n}`,
      `const tooLong = () => {\n${lines(MAX_FUNCTION_LINES - 1)}\n}`,
    ].join('\n')
    expect(problemsIn([{ path: 'src/a.ts', text }])).toEqual([
      'src/a.ts:71: a function of 71 lines of its own',
    ])
    expect(problemsIn([{ path: 'src/a.test.ts', text }])).toEqual([])
  })

  it('count the functions of a factory one by one', () => {
    const inner = `function inner() {\n${lines(MAX_FUNCTION_LINES - 2)}\n}`
    const factory = `export function createX(): object {\n${inner}\n${inner}\nreturn { inner }\n}`
    expect(problemsIn([{ path: 'src/a.ts', text: factory }])).toEqual([])
    const text = factory.replace('return', `${lines(MAX_FUNCTION_LINES)}\nreturn`)
    expect(problemsIn([{ path: 'src/a.ts', text }])).toEqual([
      'src/a.ts:1: a function of 73 lines of its own',
    ])
  })

  it('find a file that is too long', () => {
    const text = Array.from({ length: MAX_FILE_LINES }, (_, n) => `act(${n})`).join('\n')
    expect(problemsIn([{ path: 'src/a.ts', text: `${text}\n` }])).toEqual([])
    expect(problemsIn([{ path: 'src/a.ts', text: `${text}\nact()\n` }])).toEqual([
      'src/a.ts: a file of 351 lines',
    ])
  })

  it.each(['never', 'unknown', 'any'])('find a cast to %s', (type) => {
    const file = { path: 'src/a.ts', text: `const a = b as ${type}\nconst c = b as string` }
    expect(problemsIn([file])).toEqual([`src/a.ts:1: a cast to ${type}`])
  })

  it.each([
    ['ForkRequest', 'ForkRequest'],
    ["Omit<TaskQuery, 'limit'>", 'TaskQuery'],
    ['Partial<TaskFilter>', 'TaskFilter'],
  ])('find a cast that claims that input was checked: %s', (type, name) => {
    const text = `const a = b as ${type}\nconst c = b as Requests\nconst d = z.strictObject({}) as z.ZodType<${type}>`
    expect(problemsIn([{ path: 'src/a.ts', text }])).toEqual([`src/a.ts:1: a cast to ${name}`])
    expect(problemsIn([{ path: 'src/a.test.ts', text }])).toEqual([])
  })

  it.each([
    "const some: ReadonlySet<RecordType> = new Set(['step', 'value'])",
    "const some: Set<LogRecord['type']> = new Set(['step'])",
    "const some = new Set<State>(['working'])",
    "return new Set<State>(['working']).has(state)",
  ])('find a set that names some members of a union: %s', (text) => {
    const problem = 'a partial set of a union; use a table over all of its members'
    const file = { path: 'src/a.ts', text: `function f() {\n${text}\n}` }
    expect(new Set(problemsIn([file]))).toEqual(new Set([`src/a.ts:2: ${problem}`]))
  })

  it.each([
    "const names: ReadonlySet<string> = new Set(['host'])",
    "const names = new Set(['host'])",
    'const seen = new Set<State>()',
    'const all = new Set<State>(states)',
    'const all: Set<State> = new Set([...states])',
  ])('allow a set that is no part of a union: %s', (text) => {
    expect(problemsIn([{ path: 'src/a.ts', text }])).toEqual([])
  })

  it('find an exported function that does not say what it returns', () => {
    const text = 'export function a() {}\nexport function b(): void {}\nfunction c() {}'
    expect(problemsIn([{ path: 'src/a.ts', text }])).toEqual([
      'src/a.ts:1: an exported function without the type of its result, a',
    ])
    expect(problemsIn([{ path: 'src/test-support/a.ts', text }])).toEqual([])
  })

  it.each(['src', 'conformance'])('hold in %s', (folder) => {
    const files = sourcesIn(folder)
    expect(files.length).toBeGreaterThan(0)
    expect(problemsIn(files)).toEqual([])
  })
})
