/**
 * Computes when a cron expression fires next. The croner package parses expressions and finds the wall times that match, as
 * if the zone were UTC; `firstShown` and `nextShown` below convert them to instants. croner's own handling of clock changes loses some times
 * and repeats others.
 * This file also limits the search: croner tries every day that might match, for 400 years, or 10,000 years if the
 * expression names years, so an expression that never fires would block the process for seconds. Here only the next years
 * are tried.
 */

import { Cron } from 'croner'
import { describeError } from '../../core/values/describe-error.ts'

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

/** The error text for a valid expression that fires at no time within `YEARS` years. */
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

/**
 * When the clocks of a time zone show a wall time. A wall time is written as the instant at which UTC's clocks show it.
 *
 * W1  `firstShown`, for times of the day: each wall time comes once. One that clocks skip comes when they have moved on, and one
 *     that they show twice comes the first time. Several that are skipped are one instant.
 * W2  `nextShown`, for intervals: a wall time comes whenever clocks show it: twice, or not at all.
 */

/** Returns the next wall time of an expression after the given one. */
type NextWall = (wall: number) => number | undefined

interface Zone {
  /** The offset of the zone: wall time minus instant, in milliseconds. */
  offsetAt(instant: number): number
}

const DAY_MS = 86_400_000

/** No zone changes its clocks twice within this time. */
const CHANGES_APART_MS = DAY_MS

/**
 * Undefined if there is no such zone.
 * @param name default: the zone of the process
 */
function zoneNamed(name: string | undefined): Zone | undefined {
  if (name === 'UTC') return { offsetAt: () => 0 }
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      ...(name === undefined ? {} : { timeZone: name }),
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    return {
      offsetAt: (instant) => wallTime(format, instant) - Math.floor(instant / 1_000) * 1_000,
    }
  } catch {
    return undefined
  }
}

function wallTime(format: Intl.DateTimeFormat, instant: number): number {
  const parts = Object.fromEntries(
    format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return GlobalDate.UTC(year, month - 1, day, hour, minute, second)
}

/**
 * Implements W1. Wall times up to that of `now` are skipped, because later ones never come earlier.
 */
function firstShown(zone: Zone, nextWall: NextWall, now: number): number | undefined {
  let wall = nextWall(now + zone.offsetAt(now))
  while (wall !== undefined) {
    const { at } = shownAt(zone, wall)
    if (at > now) return at
    wall = nextWall(wall)
  }
  return undefined
}

/** Implements W2. Looks at each period between two clock changes. */
function nextShown(zone: Zone, nextWall: NextWall, now: number): number | undefined {
  let since = now
  let wallSince = now + zone.offsetAt(now)
  for (;;) {
    const offset = wallSince - since
    const wall = nextWall(wallSince)
    if (wall === undefined) return undefined
    const at = wall - offset
    const until = Math.min(at, since + CHANGES_APART_MS)
    const change = zone.offsetAt(until) === offset ? undefined : changeIn(zone, since, until)
    if (change === undefined && at === until) return at
    // For a wall time that is far ahead: nothing comes before it, so the many clock changes until
    // then are skipped.
    const far = change === undefined ? shownAt(zone, wall) : undefined
    if (far !== undefined && !far.skipped) return far.at
    since = (far?.at ?? change ?? until) - 1
    wallSince = since + zone.offsetAt(since + 1)
  }
}

/** The first instant at which clocks show the wall time, or have skipped it. */
function shownAt(zone: Zone, wall: number): { readonly at: number; readonly skipped: boolean } {
  const before = zone.offsetAt(wall - CHANGES_APART_MS)
  const later = zone.offsetAt(wall + CHANGES_APART_MS)
  const first = wall - Math.max(before, later)
  const second = wall - Math.min(before, later)
  for (const at of [first, second])
    if (at + zone.offsetAt(at) === wall) return { at, skipped: false }
  return { at: changeIn(zone, first, second), skipped: true }
}

/**
 * The first instant in (from, to] that has the offset of `to`. The offset must change exactly once
 * in between.
 */
function changeIn(zone: Zone, from: number, to: number): number {
  const offset = zone.offsetAt(to)
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offsetAt(middle) === offset) high = middle
    else low = middle
  }
  return high
}
