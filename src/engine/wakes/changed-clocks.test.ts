/** When cron expressions fire on the days on which clocks change: W1 and W2 of `cron.ts`. */
import { expect, it } from 'vitest'
import { nextFire } from './cron.ts'

const DAY_MS = 86_400_000

/** The local times with offsets at which the expression fires on that day of the zone. */
function firesOn(timezone: string, day: string, cron: string): readonly string[] {
  const shown = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  })
  const found: string[] = []
  const end = Date.parse(`${day}T00:00:00Z`) + 2 * DAY_MS
  for (let now = end - 3 * DAY_MS; now < end; ) {
    const next = nextFire(cron, timezone, now)
    if (next.problem !== undefined) throw new Error(next.problem)
    now = next.at
    const [date, time] = shown.format(now).split(', ')
    if (date === day)
      found.push(`${time?.slice(0, 5)} ${new Date(now).toISOString().slice(11, 16)}Z`)
  }
  return found
}

const berlin = 'Europe/Berlin'
const newYork = 'America/New_York'
const lordHowe = 'Australia/Lord_Howe'

it.each<[zone: string, day: string, cron: string, fires: readonly string[]]>([
  // 02:00 to 03:00 is skipped.
  [berlin, '2026-03-29', '30 2 * * *', ['03:00 01:00Z']],
  [berlin, '2026-03-29', '*/30 2 * * *', ['03:00 01:00Z']],
  [berlin, '2026-03-29', '0,15,45 2 * * *', ['03:00 01:00Z']],
  [berlin, '2026-03-29', '* 2 * * *', ['03:00 01:00Z']],
  [berlin, '2026-03-29', '0 2,3 * * *', ['03:00 01:00Z']],
  [berlin, '2026-03-29', '30 2,3 * * *', ['03:00 01:00Z', '03:30 01:30Z']],
  [berlin, '2026-03-29', '30 1-3 * * *', ['01:30 00:30Z', '03:00 01:00Z', '03:30 01:30Z']],
  [berlin, '2026-03-29', '30 2 29 3 *', ['03:00 01:00Z']],
  // 02:00 to 03:00 comes twice.
  [berlin, '2026-10-25', '30 2 * * *', ['02:30 00:30Z']],
  [berlin, '2026-10-25', '*/30 2 * * *', ['02:00 00:00Z', '02:30 00:30Z']],
  [berlin, '2026-10-25', '0 2,3 * * *', ['02:00 00:00Z', '03:00 02:00Z']],
  [berlin, '2026-10-25', '0 0-4/2 * * *', ['00:00 22:00Z', '02:00 00:00Z', '04:00 03:00Z']],
  // The same in a zone west of UTC: 02:00 to 03:00 is skipped, 01:00 to 02:00 comes twice.
  [newYork, '2026-03-08', '*/30 2 * * *', ['03:00 07:00Z']],
  [newYork, '2026-03-08', '0 1,2,3 * * *', ['01:00 06:00Z', '03:00 07:00Z']],
  [newYork, '2026-11-01', '0 1,2 * * *', ['01:00 05:00Z', '02:00 07:00Z']],
  [newYork, '2026-11-01', '*/20 1 * * *', ['01:00 05:00Z', '01:20 05:20Z', '01:40 05:40Z']],
  // Half an hour: 02:00 to 02:30 is skipped, 01:30 to 02:00 comes twice.
  [lordHowe, '2026-10-04', '*/15 2 * * *', ['02:30 15:30Z', '02:45 15:45Z']],
  [lordHowe, '2026-10-04', '0 2,3 * * *', ['02:30 15:30Z', '03:00 16:00Z']],
  [lordHowe, '2026-04-05', '45 1 * * *', ['01:45 14:45Z']],
  [
    lordHowe,
    '2026-04-05',
    '*/30 1,2 * * *',
    ['01:00 14:00Z', '01:30 14:30Z', '02:00 15:30Z', '02:30 16:00Z'],
  ],
])('W1 a time of the day comes once: %s, %s, %s', (zone, day, cron, fires) => {
  expect(firesOn(zone, day, cron)).toEqual(fires)
})

it.each<[zone: string, day: string, cron: string, hours: number]>([
  [berlin, '2026-03-29', '30 * * * *', 23],
  [berlin, '2026-10-25', '30 * * * *', 25],
  [berlin, '2026-10-25', '30 * 25 10 *', 25],
  [berlin, '2026-10-25', '30 0-23 * * *', 25],
  [berlin, '2026-10-25', '@hourly', 25],
  [newYork, '2026-03-08', '0 * * * *', 23],
  [newYork, '2026-11-01', '0 * * * *', 25],
  [lordHowe, '2026-10-04', '*/30 * * * *', 47],
  [lordHowe, '2026-04-05', '*/30 * * * *', 49],
  // Midnight comes twice, or never.
  ['America/Sao_Paulo', '2018-02-17', '30 * * * *', 25],
  ['America/Sao_Paulo', '2018-02-17', '30 * 17 2 *', 25],
  ['America/Sao_Paulo', '2018-11-04', '30 * 4 11 *', 23],
])(
  'W2 a time of every hour comes as often as clocks show it: %s, %s, %s',
  (zone, day, cron, count) => {
    const fires = firesOn(zone, day, cron)
    expect(fires).toHaveLength(count)
    expect(new Set(fires).size).toBe(count)
  },
)

it('an instant is the same in every zone, and a local time is not', () => {
  const now = Date.UTC(2026, 0, 1)
  const at = Date.UTC(2027, 0, 1)
  expect(nextFire('2027-01-01T00:00:00Z', berlin, now)).toEqual({ at })
  expect(nextFire('2027-01-01T00:00:00', berlin, now)).toEqual({ at: at - 3_600_000 })
})
