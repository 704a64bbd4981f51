import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toIso } from './instant.ts'

it('spells every instant as the platform does, in whichever order they come', () => {
  const near = fc.integer({ min: 1_763_000_000_000, max: 1_763_000_003_000 })
  const any = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 })
  fc.assert(
    fc.property(fc.array(fc.oneof(near, any)), (instants) => {
      for (const instant of instants) expect(toIso(instant)).toBe(new Date(instant).toISOString())
    }),
  )
  expect(() => toIso(Number.NaN)).toThrow(RangeError)
})
