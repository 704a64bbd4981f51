/**
 * When the clocks of a time zone show a wall time. A wall time is written as the instant at which UTC's clocks show it.
 *
 * W1  `firstShown`, for times of the day: each wall time comes once. One that clocks skip comes when they have moved on, and one
 *     that they show twice comes the first time. Several that are skipped are one instant.
 * W2  `nextShown`, for intervals: a wall time comes whenever clocks show it: twice, or not at all.
 */

/** Returns the next wall time of an expression after the given one. */
export type NextWall = (wall: number) => number | undefined

export interface Zone {
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
export function zoneNamed(name: string | undefined): Zone | undefined {
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
export function firstShown(zone: Zone, nextWall: NextWall, now: number): number | undefined {
  let wall = nextWall(now + zone.offsetAt(now))
  while (wall !== undefined) {
    const { at } = shownAt(zone, wall)
    if (at > now) return at
    wall = nextWall(wall)
  }
  return undefined
}

/** Implements W2. Looks at each period between two clock changes. */
export function nextShown(zone: Zone, nextWall: NextWall, now: number): number | undefined {
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

// biome-ignore lint/style/noRestrictedGlobals: conversions only; the clock comes in as `now`
const GlobalDate: DateConstructor = Date
