import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outerSteps } from './keys.ts'
import { Unclaimed } from './unclaimed.ts'

/** The rule, as one reads it: every recorded operation is compared. */
function model(recorded: ReadonlyMap<string, number>) {
  const left = new Map(recorded)
  const called = new Set<string>()
  const concerns = (key: string, other: string): boolean =>
    outerSteps(key).every((step) => !called.has(step.key) || other.startsWith(step.prefix))
  return {
    ask(key: string) {
      left.delete(key)
      called.add(key)
    },
    behind: (place: number, key: string): string | undefined =>
      [...left]
        .filter(([other, seq]) => seq > place && concerns(other, key))
        .sort(([, one], [, other]) => one - other)[0]?.[0],
    hasInside: (step: string): boolean =>
      [...left.keys()].some((key) => outerSteps(key).some((outer) => outer.key === step)),
  }
}

const segment = fc.constantFrom('step:a#1', 'step:a#2', 'step:b#1')
const attempt = fc.constantFrom('', '!1')
const key = fc
  .tuple(fc.array(fc.tuple(segment, attempt), { maxLength: 2 }), segment)
  .map(([outer, last]) => [...outer.map((parts) => parts.join('')), last].join('/'))
/** The code calls an operation, or a new one asks whether it may run. */
const acts = fc.array(fc.record({ key, place: fc.nat(12), isNew: fc.boolean() }), { maxLength: 40 })

describe('the recorded operations that the code has not called', () => {
  it('U2: are compared with a new operation as the rule says, whatever the code calls and when', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 12 }), acts, (keys, made) => {
        const recorded = new Map(keys.map((one, index) => [one, index + 1]))
        const [unclaimed, rule] = [new Unclaimed(new Map(recorded)), model(recorded)]
        const waiting = new Map<number, { key: string; place: number }>()
        for (const [index, act] of made.entries()) {
          if (act.isNew) {
            waiting.set(index, act)
            const start = (): void => void waiting.delete(index)
            unclaimed.whenNothingBehind({ key: act.key, place: act.place, start })
          } else {
            unclaimed.noteCall(act.key)
            rule.ask(act.key)
          }
          expect(unclaimed.behind(act.place, act.key)).toBe(rule.behind(act.place, act.key))
          expect(unclaimed.hasInside(act.key)).toBe(rule.hasInside(act.key))
          for (const one of waiting.values()) expect(rule.behind(one.place, one.key)).toBeDefined()
          for (const [past, one] of made.slice(0, index + 1).entries()) {
            const mayRun = rule.behind(one.place, one.key) === undefined
            if (one.isNew && mayRun) expect(waiting.has(past)).toBe(false)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['in the order of their records', (keys: readonly string[]) => keys],
    ['in the other order', (keys: readonly string[]) => [...keys].reverse()],
  ])(
    'U3: are called %s while 2,000 new ones wait, each of which is looked at a few times',
    (_, order) => {
      const count = 2_000
      const keys = Array.from({ length: count }, (_, index) => `step:old-${index}#1`)
      const unclaimed = new Unclaimed(new Map(keys.map((one, index) => [one, index + 1])))
      let [looks, started] = [0, 0]
      for (let index = 0; index < count; index++) {
        unclaimed.whenNothingBehind({
          key: `step:new-${index}#1`,
          get place() {
            looks++
            return index
          },
          start: () => {
            started++
          },
        })
      }
      for (const one of order(keys)) unclaimed.noteCall(one)
      expect(started).toBe(count)
      expect(looks / count).toBeLessThan(60)
    },
  )
})
