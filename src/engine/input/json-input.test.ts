import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json } from './json-input.ts'
import { parse } from './parse.ts'

describe('JSON that is handed in', () => {
  it('is copied as it is: what its owner does with it later changes nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // Dropped on purpose.
        fc.pre(!JSON.stringify(value).includes('"__proto__"'))
        const kept = parse(json, value)
        expect(JSON.stringify(kept)).toBe(JSON.stringify(value))
        if (typeof value === 'object' && value !== null) expect(kept).not.toBe(value)
      }),
    )
    const inner = { a: [1] }
    const kept = parse(json, { inner })
    inner.a.push(2)
    expect(kept).toEqual({ inner: { a: [1] } })
  })

  it.each<[string, unknown, string]>([
    ['no number', { a: [1, Number.NaN] }, 'a.1'],
    ['a number without end', [Number.POSITIVE_INFINITY], '0'],
    ['a number too large for JSON', { a: 1n }, 'a'],
    ['a function', { a: { b: () => 1 } }, 'a.b'],
    ['a member that is not there', { a: undefined }, 'a'],
    ['a date', { at: new Date(0) }, 'at'],
    ['a map', [[new Map()]], '0.0'],
  ])('is refused with the place where it is %s', (_, value, path) => {
    expect(() => parse(json, value)).toThrow(
      expect.objectContaining({ details: { path, problem: 'must be JSON' } }),
    )
  })

  it('is asked for where it is missing', () => {
    expect(() => parse(json, undefined, 'state')).toThrow(
      expect.objectContaining({ details: { path: 'state', problem: 'is required' } }),
    )
  })

  it('loses a name that would change what the object is, and ends when it has no end', () => {
    expect(parse(json, JSON.parse('{"a":{"__proto__":{"x":1},"b":2}}'))).toEqual({ a: { b: 2 } })
    expect(parse(json, Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 })
    const circle: unknown[] = []
    circle.push(circle)
    expect(() => parse(json, circle)).toThrow('is nested too deeply')
  })
})
