import { describe, expect, it } from 'vitest'
import { unnamedIn } from './invariants.mjs'
import { sourcesIn } from './sources.mjs'

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

  it('of any source file appears in the name of a test', () => {
    const files = sourcesIn('src')
    expect(files.length).toBeGreaterThan(100)
    expect(unnamedIn(files)).toEqual([])
  })
})
