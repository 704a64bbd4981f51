import { describe, expect, it } from 'vitest'
import { weightOf } from './weight.ts'

describe('the weight of a value', () => {
  it('grows with every character, member and level', () => {
    const base = weightOf({ text: 'abc' })
    expect(weightOf({ text: 'abcd' })).toBe(base + 1)
    expect(weightOf({ text: 'abc', more: 1 })).toBeGreaterThan(base)
    expect(weightOf([{ text: 'abc' }])).toBeGreaterThan(base)
    expect(weightOf([1, 2, 3])).toBeGreaterThan(weightOf([1, 2]))
  })

  it('is about that of the JSON text for large values', () => {
    const rows = Array.from({ length: 1_000 }, (_, n) => ({ text: 'x'.repeat(200), n }))
    const ratio = weightOf(rows) / JSON.stringify(rows).length
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.5)
  })

  it('is a positive number for every JSON value and for what is not there', () => {
    for (const value of [null, undefined, true, 0, '', [], {}]) {
      expect(weightOf(value)).toBeGreaterThan(0)
    }
  })
})
