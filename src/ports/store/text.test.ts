import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromText, toText } from './text.ts'

fc.configureGlobal({ seed: 7 })

/** Arbitrary UTF-16, with many of the special characters: NUL, DEL, digits, lone surrogates. */
const unit = fc.oneof(
  fc.nat(0xffff),
  fc.constantFrom(0, 0x1f, 0x20, 0x30, 0x7f, 0x9f, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfffd),
)
const anyString = fc.array(unit).map((units) => String.fromCharCode(...units))

describe('identifiers as text', () => {
  it('come back as they were, whatever they hold', () => {
    fc.assert(fc.property(anyString, (value) => fromText(toText(value)) === value))
    for (const value of ['\0', '\x7f', '\x7f0000', '\ud800', '\udc00\ud800', 'a\0\0b', '']) {
      expect(fromText(toText(value))).toBe(value)
    }
  })

  it('hold nothing a driver cuts off or replaces', () => {
    fc.assert(
      fc.property(anyString, (value) => {
        const text = toText(value)
        return !text.includes('\0') && Buffer.from(text, 'utf8').toString('utf8') === text
      }),
    )
  })

  it('are left as they are when they are ordinary', () => {
    const id = '0192f0c1-7b1e-7abc-8def-0123456789ab'
    expect(toText(id)).toBe(id)
    expect(toText('ünïcödé 🜁 漢字')).toBe('ünïcödé 🜁 漢字')
  })
})
