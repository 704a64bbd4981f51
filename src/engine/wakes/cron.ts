/**
 * Computes when a cron expression fires next. The croner package parses expressions and finds the wall times that match, as
 * if the zone were UTC; `wall-time.ts` converts them to instants. croner's own handling of clock changes loses some times
 * and repeats others.
 * This file also limits the search: croner tries every day that might match, for 400 years, or 10,000 years if the
 * expression names years, so an expression that never fires would block the process for seconds. Here only the next years
 * are tried.
 */
import { Cron } from 'croner'
import { describeError } from '../../core/values/describe-error.ts'
import { firstShown, nextShown, type Zone, zoneNamed } from './wall-time.ts'

export type NextFire =
  | { readonly at: number; readonly problem?: undefined }
  | { readonly problem: string; readonly wrong: 'cron' | 'timezone' }

/** The 29th of February falls on each weekday within 40 years, also around 2100, which is no leap year. */
const YEARS = 40

/** One entry of the year field: `*`, a year or a range, each with an optional step. */
const YEAR_FIELD = /^(?:\*|(\d{1,4})(?:-(\d{1,4}))?)(?:\/(\d{1,4}))?$/

/** Matches expressions that fire in every hour, which mean an interval and not times of the day. */
const EVERY_HOUR = /^(?:\*|0-23)(?:\/1)?$/

export function nextFire(cron: string, timezone: string | undefined, now: number): NextFire {
  const zone = zoneNamed(timezone)
  if (zone === undefined) {
    return { wrong: 'timezone', problem: 'is not a time zone; give a name such as Europe/Berlin' }
  }
  const within = withYears(cron, new GlobalDate(now).getUTCFullYear())
  if (within.problem !== undefined) return { wrong: 'cron', problem: within.problem }
  try {
    const at = timeAfter(within, zone, now)
    if (at !== undefined) return { at }
  } catch (error) {
    return { wrong: 'cron', problem: describeError(error).message }
  }
  return { wrong: 'cron', problem: NEVER }
}

/** @throws the error of croner for an invalid expression */
function timeAfter({ cron, hours }: Expression, zone: Zone, now: number): number | undefined {
  const times = new Cron(cron, { paused: true, utcOffset: 0 })
  const nextWall = (wall: number): number | undefined =>
    times.nextRun(new GlobalDate(wall))?.getTime()
  if (isInstant(cron)) return nextWall(now)
  return EVERY_HOUR.test(hours) ? nextShown(zone, nextWall, now) : firstShown(zone, nextWall, now)
}

/** An ISO 8601 instant with `Z`, which is the same in every zone. */
const isInstant = (cron: string): boolean => /^\s*\d[^\s]*Z\s*$/i.test(cron)

/** The problem of a valid expression that does not fire within that time. */
export const NEVER: string = `never fires in the next ${YEARS} years`

interface Expression {
  readonly cron: string
  readonly hours: string
  readonly problem?: undefined
}

type WithYears = Expression | { readonly problem: string }

/**
 * The expression with a year field that lists only the next years. Names such as `@daily` and
 * instants are returned unchanged.
 */
function withYears(cron: string, thisYear: number): WithYears {
  const fields = cron.trim().split(/\s+/)
  const [first = '', ...others] = fields
  if (others.length === 0 || fields.length < 5 || fields.length > 7) {
    return { cron, hours: first === '@hourly' ? '*' : '' }
  }
  const given = fields.length === 7 ? (fields[6] ?? '*') : '*'
  // The year in a time zone may begin up to a day before that of UTC.
  const years = yearsIn(given, thisYear - 1, thisYear + YEARS)
  if (years === undefined) return { problem: `"${given}" is not a list of years` }
  if (years.length === 0) return { problem: NEVER }
  const parts = fields.length === 5 ? ['0', first, ...others] : [first, ...others]
  return { cron: [...parts.slice(0, 6), years.join(',')].join(' '), hours: parts[2] ?? '' }
}

/**
 * The years in a year field between `first` and `last`. Undefined if it is not a valid year field.
 */
function yearsIn(field: string, first: number, last: number): readonly number[] | undefined {
  const wanted = new Set<number>()
  for (const entry of field.split(',')) {
    const found = YEAR_FIELD.exec(entry)
    if (found === null) return undefined
    const from = Number(found[1] ?? 1)
    const to = Number(found[2] ?? (found[1] === undefined || found[3] !== undefined ? 9_999 : from))
    const step = Number(found[3] ?? 1)
    if (step === 0 || from > to) return undefined
    for (let year = first; year <= last; year++) {
      if (year >= from && year <= to && (year - from) % step === 0) wanted.add(year)
    }
  }
  return [...wanted].sort((a, b) => a - b)
}

// biome-ignore lint/style/noRestrictedGlobals: conversions only; the clock comes in as `now`
const GlobalDate: DateConstructor = Date
