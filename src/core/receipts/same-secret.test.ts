import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sameSecret } from './same-secret.ts'

it('is true for equal texts, and for no others', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(sameSecret(a, a)).toBe(true)
      expect(sameSecret(a, b)).toBe(a === b)
      expect(sameSecret(`${a}x`, a)).toBe(false)
      expect(sameSecret(a, `${a}\u0000`)).toBe(false)
    }),
  )
  expect(sameSecret('a', undefined)).toBe(false)
})
