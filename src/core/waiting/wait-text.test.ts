import { describe, expect, it } from 'vitest'
import { until, waitText } from './wait-text.ts'

const now = Date.parse('2030-01-01T00:00:00Z')
const later = (ms: number): string => new Date(now + ms).toISOString()

describe('what wakes a task, in words', () => {
  it.each([
    [undefined, undefined, 'only when it is resumed'],
    [{}, undefined, 'only when it is resumed'],
    [{ onEvent: 'ci.done:7' }, undefined, 'on ci.done:7'],
    [
      { onEvent: 'ci.done:7', timeout: { durationMinutes: 30, onTimeout: 'fail' } },
      later(1_800_000),
      'on ci.done:7, or in 30 min (then it fails)',
    ],
    [{ trigger: { at: later(90_000) } }, undefined, 'in 90 s'],
    [
      { trigger: { schedule: { cron: '0 9 * * *', timezone: 'Europe/Berlin' } } },
      undefined,
      'on the schedule "0 9 * * *" (Europe/Berlin)',
    ],
    [
      {
        trigger: {
          filter: { all: [{ prefix: { type: 'ci.' } }, { not: { exact: { subject: 'x' } } }] },
        },
      },
      undefined,
      'on an event where type begins with "ci." and not (subject is "x")',
    ],
  ] as const)('%j', (conditions, deadlineAt, text) => {
    expect(waitText(conditions, deadlineAt, now)).toBe(text)
  })

  it('counts in the unit that a person would use', () => {
    const ahead = [0, 1_000, 300_000, 3 * 3_600_000, 4 * 86_400_000].map((ms) =>
      until(later(ms), now),
    )
    expect(ahead).toEqual(['now', 'in 1 s', 'in 5 min', 'in 3 h', 'in 4 days'])
  })
})
