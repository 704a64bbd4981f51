import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonical } from './canonical-json.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

describe('canonical JSON (RFC 8785)', () => {
  it('writes the example of section 3.2.2', () => {
    const sample = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",' +
        '"literals":[null,true,false]}',
    )
    expect(canonical(sample)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts keys by UTF-16 code units, as the example of section 3.2.3', () => {
    const sample = JSON.parse(
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh",' +
        '"1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control",' +
        '"\\u00f6":"Latin Small Letter O With Diaeresis"}',
    )
    expect(Object.values(JSON.parse(canonical(sample)) as object)).toEqual([
      // `1` comes first in any JavaScript object; the text below has the order that is signed.
      'One',
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ])
    expect([...canonical(sample).matchAll(/"([^"]*)":/g)].map(([, key]) => key)).toEqual([
      '\\r',
      '1',
      '\u0080',
      'ö',
      '€',
      '😀',
      '\ufb33',
    ])
  })

  // Appendix B, as far as the values can be written as literals.
  it.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-5e-324, '-5e-324'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e21, '1e+21'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [1e23, '1e+23'],
    [0.000001, '0.000001'],
    [1e-7, '1e-7'],
    // Written by the RFC as 333333333.33333329.
    [333333333.3333333, '333333333.3333333'],
    [333333333.33333325, '333333333.33333325'],
    [-0.0000033333333333333333, '-0.0000033333333333333333'],
    [1424953923781206.2, '1424953923781206.2'],
  ])('writes the number %d as %s', (number, text) => {
    expect(canonical(number)).toBe(text)
  })

  it.each([Number.NaN, Infinity, -Infinity])('has no text for %d', (number) => {
    expect(() => canonical(number)).toThrow(TypeError)
  })

  it.each([1n, () => 1, Symbol('s')])('has no text for %o', (value) => {
    expect(() => canonical(value)).toThrow(TypeError)
  })

  it('leaves members out that are undefined, as JSON does', () => {
    expect(canonical({ a: undefined, b: [undefined], c: 1 })).toBe('{"b":[null],"c":1}')
  })

  it('of nothing at all is the empty text, which no value has', () => {
    expect(canonical(undefined)).toBe('')
  })

  it('treats "__proto__" as a key like any other', () => {
    expect(canonical(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}')
  })

  it('is its own canonical form, and means the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonical(value)
        expect(canonical(JSON.parse(text))).toBe(text)
        expect(JSON.parse(text)).toEqual(plain(value))
      }),
    )
  })

  it('does not depend on the order in which keys were set', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(objects, (object) => {
        const turned = Object.fromEntries(Object.entries(object).reverse())
        expect(canonical(turned)).toBe(canonical(object))
      }),
    )
  })

  it('tells different values apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const equal = isDeepStrictEqual(plain(left), plain(right))
        expect(canonical(left) === canonical(right)).toBe(equal)
      }),
    )
  })
})

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
