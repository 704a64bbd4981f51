import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonical } from '../receipts/canonical-json.ts'
import { isSameJson } from './json.ts'

const written = (value: unknown): string => canonical(JSON.parse(JSON.stringify(value)))

/** Few different values, so that two of them are often alike. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, 'a', ''),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', '1'), fc.oneof(tie('value'), fc.constant(undefined)), {
      maxKeys: 2,
    }),
  ),
}))

it('values are the same when JSON writes them alike', () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect(isSameJson(one, other)).toBe(written(one) === written(other))
      expect(isSameJson(one, JSON.parse(JSON.stringify(one)))).toBe(true)
    }),
    { seed: 8259, numRuns: 2_000 },
  )
})
