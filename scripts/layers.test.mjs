import { describe, expect, it } from 'vitest'
import { importsOf, problemsIn } from './layers.mjs'

const check = (...files) =>
  problemsIn(
    files.map(([path, text]) => ({ path, text })),
    ['zod', 'ws'],
  )
const store = ['src/stores/memory/store.ts', 'export const store = 1']

describe('the layers of src', () => {
  it.each([
    ["import { a } from './a.ts'", './a.ts'],
    ["import type { A } from './a.ts'", './a.ts'],
    ["export { a } from './a.ts'", './a.ts'],
    ["export type { A } from './a.ts'", './a.ts'],
    ["export * from './a.ts'", './a.ts'],
    ["export * as all from './a.ts'", './a.ts'],
    ["import './a.ts'", './a.ts'],
    ["const a = await import('./a.ts')", './a.ts'],
    ["type A = import('./a.ts').A", './a.ts'],
    ["import {\n  a,\n  b,\n} from './a.ts'", './a.ts'],
    ["import x, { type A } from './a.ts'", './a.ts'],
  ])('see the dependency in %j', (text, wanted) => {
    expect(importsOf(text)).toEqual([wanted])
  })

  it('see nothing in comments and ordinary texts', () => {
    expect(importsOf("/* import './a.ts' */\n// export * from './b.ts'\nconst t = 'from'")).toEqual(
      [],
    )
  })

  it('refuse a type-only re-export of what may not be imported', () => {
    const engine = ['src/engine/a.ts', "export type { store } from '../stores/memory/store.ts'"]
    expect(check(engine, store)).toEqual([
      'src/engine/a.ts: ../stores/memory/store.ts: engine may not import stores',
    ])
  })

  it('keep siblings apart', () => {
    const other = ['src/stores/sqlite/a.ts', "export * from '../memory/store.ts'"]
    expect(check(other, store)).toEqual([
      'src/stores/sqlite/a.ts: ../memory/store.ts: stores do not know each other',
    ])
  })

  it.each([
    ['src/core/a.ts', "import { z } from 'zod'"],
    ['src/core/a.ts', "import { join } from 'node:path'"],
    ['src/ports/a.ts', "import { join } from 'path'"],
    ['src/wire/a.ts', "import { z } from 'zod'"],
    ['src/server/a.ts', "import { x } from 'vitest'"],
    ['src/engine/a.ts', "import { a } from './gone.ts'"],
    ['src/new/a.ts', ''],
    ['src/engine/a.ts', 'const n = Math.random()'],
    ['src/core/a.ts', 'const now = new globalThis.Date()'],
    ['src/core/a.ts', "import { randomUUID } from 'node:crypto'"],
  ])('refuse %s: %s', (path, text) => {
    expect(check([path, text])).toHaveLength(1)
  })

  it('let tests import what they need', () => {
    expect(check(['src/core/a.test.ts', "import '../stores/memory/store.ts'"], store)).toEqual([])
  })
})
