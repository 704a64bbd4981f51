import { describe, expect, it } from 'vitest'
import { unnamedIn } from './invariants.mjs'
import { sourcesIn } from './sources.mjs'

/** Folders whose invariants are all named by tests. */
const folders = ['src/core/', 'src/engine/run/']

describe('a numbered invariant', () => {
  const source = { path: 'src/gate.ts', text: '/**\n * G1  One.\n * G2  Two.\n * G3  Three.\n */' }

  it('that no title of a test of its file names is found', () => {
    const beside = { path: 'src/gate.test.ts', text: "it('G1: starts', () => {})" }
    const citing = { path: 'src/other.test.ts', text: "// gate.ts\n])('G3 %s', () => {})" }
    const foreign = { path: 'src/door.test.ts', text: "it('G2: starts', () => {})" }
    expect(unnamedIn([source, beside, citing, foreign])).toEqual(['src/gate.ts G2'])
  })

  it('may be named as one of a range', () => {
    const test = { path: 'src/gate.test.ts', text: "it('G1 to G3: all of them', () => {})" }
    expect(unnamedIn([source, test])).toEqual([])
  })

  it.each(folders)('of %s appears in the name of a test', (folder) => {
    const files = sourcesIn('src')
    expect(files.some(({ path }) => path.startsWith(folder))).toBe(true)
    expect(unnamedIn(files).filter((one) => one.startsWith(folder))).toEqual([])
  })
})
