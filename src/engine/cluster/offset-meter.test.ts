import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createOffsetMeter } from './membership.ts'
import type { StoreOffset } from './store-clock.ts'

const HOUR_MS = 3_600_000

/** Measures a store that is ahead by so much, with questions and answers that take so long. */
function meter() {
  const offsets: StoreOffset[] = []
  const measure = createOffsetMeter((offset) => offsets.push(offset))
  let elapsed = 0
  return {
    /** The offset after a measurement. */
    measure(ahead: number, there: number, back: number): StoreOffset {
      measure(elapsed + there + ahead, elapsed, elapsed + there + back)
      elapsed += there + back
      return offsets.at(-1) as StoreOffset
    },
    pass(ms: number) {
      elapsed += ms
    },
  }
}

const middle = ({ least, most }: StoreOffset): number => (least + most) / 2

it('O1: is right by half of the round trip when every one takes 700 ms', () => {
  for (const there of [0, 100, 350, 700]) {
    const { measure } = meter()
    const offset = measure(HOUR_MS, there, 700 - there)
    expect(offset.most - offset.least).toBe(700)
    expect(Math.abs(middle(offset) - HOUR_MS)).toBeLessThanOrEqual(350)
  }
})

it('O2: uses a short round trip for minutes while later ones take long, and then no longer', () => {
  const { measure, pass } = meter()
  measure(HOUR_MS, 1, 1)
  pass(5_000)
  const soon = measure(HOUR_MS, 700, 0)
  expect(Math.abs(middle(soon) - HOUR_MS)).toBeLessThan(10)
  pass(HOUR_MS)
  const late = measure(HOUR_MS, 700, 0)
  expect(late.most - late.least).toBeCloseTo(700)
})

it('O2: two long round trips, each slow in another direction, are as good as a short one', () => {
  const { measure } = meter()
  measure(HOUR_MS, 700, 0)
  expect(Math.abs(middle(measure(HOUR_MS, 0, 700)) - HOUR_MS)).toBeLessThan(2)
})

it.each([HOUR_MS, -HOUR_MS])(
  'O3: follows at once when the machine slept or the clock of the store was set, by %i ms',
  (ms) => {
    const { measure, pass } = meter()
    measure(HOUR_MS, 1, 1)
    pass(5_000)
    expect(middle(measure(HOUR_MS + ms, 1, 1))).toBe(HOUR_MS + ms)
  },
)

it('O1 and O2: the true offset is always between the two values, and never further than half of the last round trip', () => {
  const trip = fc.record({ there: fc.nat(2_000), back: fc.nat(2_000), pause: fc.nat(60_000) })
  fc.assert(
    fc.property(fc.array(trip, { minLength: 1, maxLength: 30 }), (trips) => {
      const { measure, pass } = meter()
      for (const { there, back, pause } of trips) {
        const offset = measure(HOUR_MS, there, back)
        expect(offset.least).toBeLessThanOrEqual(HOUR_MS)
        expect(offset.most).toBeGreaterThanOrEqual(HOUR_MS)
        expect(Math.abs(middle(offset) - HOUR_MS)).toBeLessThanOrEqual((there + back) / 2)
        pass(pause)
      }
    }),
  )
})
