import { expect, it } from 'vitest'
import { nextFire } from './cron.ts'

const now = Date.UTC(2026, 10, 16, 3, 30)
const never = 'never fires in the next 40 years'

function next(cron: string, timezone?: string): string {
  const fire = nextFire(cron, timezone, now)
  return fire.problem ?? new Date(fire.at).toISOString()
}

it.each([
  ['0 9 * * 1', '2026-11-16T09:00:00.000Z'],
  ['30 0 9 * * 1', '2026-11-16T09:00:30.000Z'],
  ['0 0 9 1 1 * 2030', '2030-01-01T09:00:00.000Z'],
  ['0 0 9 1 1 * 2020-2040/10', '2030-01-01T09:00:00.000Z'],
  ['0 0 9 1 1 * */4', '2029-01-01T09:00:00.000Z'],
  ['@daily', '2026-11-17T00:00:00.000Z'],
  ['0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
  ['0 0 29 2 +1', '2044-02-29T00:00:00.000Z'],
  ['  0   9 * * 1 ', '2026-11-16T09:00:00.000Z'],
])('reads %j', (cron, at) => {
  expect(next(cron)).toBe(at)
})

it('reads the time of a zone, whose year may be ahead of that of UTC', () => {
  expect(next('0 9 * * *', 'America/New_York')).toBe('2026-11-16T14:00:00.000Z')
  const eve = Date.UTC(2026, 11, 31, 23, 0)
  expect(nextFire('30 13 * * *', 'Pacific/Kiritimati', eve)).toEqual({
    at: Date.UTC(2026, 11, 31, 23, 30),
  })
})

it.each([
  '0 0 30 2 *',
  '0 0 0 1 1 * 2025',
  '0 0 0 1 1 * 9999',
  '* * * 1W,2W,3W,4W,5W,6W,7W * +0#5',
])('refuses %j, which does not fire in 40 years', (cron) => {
  expect(nextFire(cron, undefined, now)).toEqual({ wrong: 'cron', problem: never })
})

it.each([
  ['0 0 0 1 1 * 0-1', never],
  ['0 0 0 1 1 * 20x6', '"20x6" is not a list of years'],
  ['0 0 0 1 1 * 2030-2026', '"2030-2026" is not a list of years'],
  ['0 0 0 1 1 * */0', '"*/0" is not a list of years'],
])('refuses the years of %j', (cron, problem) => {
  expect(nextFire(cron, undefined, now)).toEqual({ wrong: 'cron', problem })
})

it('refuses an unknown time zone and says so', () => {
  expect(nextFire('0 9 * * 1', 'Mars/Olympus', now)).toMatchObject({ wrong: 'timezone' })
})

it('searches 40 years and not 10,000, so that an expression that never fires cannot stop the process', () => {
  const began = process.cpuUsage()
  expect(next('* * * 1W,2W,3W,4W,5W,6W,7W * +0#5 1-9999')).toBe(never)
  // Ten thousand years take 8 s, 40 years 0.05 s.
  expect(process.cpuUsage(began).user).toBeLessThan(2_000_000)
})
