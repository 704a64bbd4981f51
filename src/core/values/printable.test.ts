import { describe, expect, it } from 'vitest'
import { plain, printable } from './printable.ts'

/** Every character that can change what a terminal shows elsewhere. */
const hostile = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 33 }, (_, code) => String.fromCharCode(127 + code)),
  ...'\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
].filter((one) => !'\n\t'.includes(one))

describe('a text of others', () => {
  it('is printed without what moves the cursor, changes the direction or begins a line', () => {
    for (const one of hostile) {
      const left = one === '\u2028' || one === '\u2029' ? 'a\nb' : 'ab'
      expect(plain(`a${one}b`)).toBe(left)
      expect(printable(`a${one}b`)).toMatch(/^a\\u[0-9a-f]{4}b$/)
    }
    expect(plain('a\tb\nc שלום é 👩‍🚀')).toBe('a\tb\nc שלום é 👩‍🚀')
  })

  it('is the same in JSON that is printed, and is not escaped twice', () => {
    const value = { text: hostile.join(''), '\u202e': 1 }
    const once = printable(JSON.stringify(value))
    expect(JSON.parse(once)).toEqual(value)
    expect(printable(once)).toBe(once)
    expect(once).toMatch(/^[\x20-\x7e]*$/)
  })

  it('leaves the colours of the command line', () => {
    expect(printable('\u001b[31mred\u001b[39m \u001b[2J')).toBe(
      '\u001b[31mred\u001b[39m \\u001b[2J',
    )
  })
})
