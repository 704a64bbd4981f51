import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agent } from '../../author/agent.ts'
import { checkedSchedules, latestTime, type Schedule, timeAfter, timesText } from './schedule.ts'

const checked = (some: Partial<Schedule>) => {
  const [one] = checkedSchedules([{ name: 'x', message: 'go', ...some } as Schedule])
  if (one === undefined) throw new Error('no schedule')
  return one
}

/** Zones whose clocks change by an hour, by half an hour, at midnight, and not at all. */
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Asia/Kolkata',
  'UTC',
]
const YEAR_MS = 365 * 86_400_000
const from = Date.UTC(2024, 0, 1)

function dateIn(timeZone: string, instant: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date(instant))
}

describe('the times of a schedule', () => {
  it('are once on every local day, also when clocks change', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: YEAR_MS }),
        (timezone, hour, minute, offset) => {
          const daily = checked({ cron: `${minute} ${hour} * * *`, timezone })
          let time = timeAfter(daily, from + offset) ?? 0
          for (let day = 0; day < 20; day++) {
            const next = timeAfter(daily, time) ?? 0
            const [year, month, date] = dateIn(timezone, time).split('-').map(Number)
            const tomorrow = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, (date ?? 0) + 1))
            expect(dateIn(timezone, next)).toBe(tomorrow.toISOString().slice(0, 10))
            time = next
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('do not depend on the instant they are asked from: no time is lost, and none comes twice', () => {
    const crons = ['*/10 * * * *', '30 2 * * *', '0 0 1 * *', '15,45 */3 * * 1-5', '*/20 * * * * *']
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...crons),
        fc.integer({ min: 0, max: YEAR_MS }),
        fc.integer({ min: 0, max: 86_400_000 }),
        (timezone, cron, offset, length) => {
          const one = checked({ cron, timezone })
          const start = from + offset
          const next = timeAfter(one, start) ?? 0
          expect(next).toBeGreaterThan(start)
          const between = start + Math.floor((next - start) / 2)
          expect(timeAfter(one, between)).toBe(next)
          const latest = latestTime(one, start, start + length)
          if (latest === undefined) expect(next).toBeGreaterThan(start + length)
          else {
            expect(latest).toBeLessThanOrEqual(start + length)
            expect(timeAfter(one, latest)).toBeGreaterThan(start + length)
            expect(timeAfter(one, latest - 1)).toBe(latest)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('of an interval are the same whenever a process starts', () => {
    const one = checked({ every: '15 minutes' })
    const at = Date.UTC(2026, 0, 1, 10, 7, 30, 5)
    expect(timeAfter(one, at)).toBe(Date.UTC(2026, 0, 1, 10, 15))
    expect(timeAfter(one, Date.UTC(2026, 0, 1, 10, 15))).toBe(Date.UTC(2026, 0, 1, 10, 30))
    expect(latestTime(one, at, at + 3_600_000)).toBe(Date.UTC(2026, 0, 1, 11))
  })

  it('are shown as they were written', () => {
    expect(timesText(checked({ every: 5_400_000 }))).toBe('every 90 minutes')
    expect(timesText(checked({ every: '1 day' }))).toBe('every 1 day')
    expect(timesText(checked({ cron: '0 9 * * *' }))).toBe('0 9 * * *')
    const zoned = checked({ cron: '0 9 * * *', timezone: 'Europe/Berlin' })
    expect(timesText(zoned)).toBe('0 9 * * * (Europe/Berlin)')
  })
})

describe('a schedule that is wrong', () => {
  it.each<[string, object, string]>([
    ['neither cron nor every', {}, 'schedule.0'],
    ['both', { cron: '* * * * *', every: 1_000 }, 'schedule.0'],
    ['a cron that is none', { cron: 'tomorrow' }, 'schedule.0.cron'],
    ['a zone that is none', { cron: '* * * * *', timezone: 'Mars' }, 'schedule.0.timezone'],
    ['less than a second', { every: 999 }, 'schedule.0.every'],
    ['no duration', { every: 'often' }, 'schedule.0.every'],
    ['an unknown policy', { every: 1_000, missed: 'all' }, 'schedule.0.missed'],
    ['a name with a colon', { every: 1_000, name: 'a:b' }, 'schedule.0.name'],
  ])('is refused when the agent is defined: %s', (_, some, path) => {
    const schedule = [{ name: 'x', message: 'go', ...some } as Schedule]
    expect(() => agent({ name: 'a', description: 'x', schedule, run: () => 'x' })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ path }) }),
    )
  })

  it('is refused when two have one name', () => {
    const one = { name: 'x', message: 'go', every: 1_000 } as const
    expect(() => checkedSchedules([one, one])).toThrow('schedule.1.name: is used twice')
  })
})
