/**
 * Durations as authors write them. A number is in milliseconds. A text has a number and a unit, such as `'30 minutes'`. A
 * day has 24 hours.
 */

import { LullError } from '../errors.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export type DurationUnit =
  | 'ms'
  | `second${'' | 's'}`
  | `minute${'' | 's'}`
  | `hour${'' | 's'}`
  | `day${'' | 's'}`
  | `week${'' | 's'}`

const unitMs: Readonly<Record<DurationUnit, number>> = {
  ms: 1,
  second: SECOND_MS,
  seconds: SECOND_MS,
  minute: MINUTE_MS,
  minutes: MINUTE_MS,
  hour: HOUR_MS,
  hours: HOUR_MS,
  day: DAY_MS,
  days: DAY_MS,
  week: 7 * DAY_MS,
  weeks: 7 * DAY_MS,
}

/** Milliseconds, or a text such as `'30 minutes'`. */
export type Duration = number | `${number} ${DurationUnit}`

/** Replaces durations by numbers in every member named `…Ms`. */
export type InMs<T> = {
  readonly [K in keyof T]: K extends `${string}Ms` ? Exclude<T[K], string> : T[K]
}

/** Allows durations in every member named `…Ms`. */
export type WithDurations<T> = {
  readonly [K in keyof T]: K extends `${string}Ms` ? T[K] | Duration : T[K]
}

export const NOT_A_DURATION =
  "must be a number of milliseconds, or a text such as '30 minutes' (ms, seconds, minutes, hours, days, weeks)"

const DURATION = /^(\d+(?:\.\d+)?) ([a-z]+)$/

/** The milliseconds of a duration. Undefined when the value is not one. */
export function toMs(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 ? value : undefined
  const found = typeof value === 'string' ? DURATION.exec(value) : null
  const [, count, unit = ''] = found ?? []
  if (count === undefined || !Object.hasOwn(unitMs, unit)) return undefined
  return Number(count) * unitMs[unit as DurationUnit]
}

/** @throws LullError `INVALID_INPUT` */
export function durationMs(value: Duration, path: string): number {
  const ms = toMs(value)
  if (ms !== undefined) return ms
  throw new LullError('INVALID_INPUT', { path, problem: NOT_A_DURATION })
}

/**
 * Returns a copy with durations converted to milliseconds in every member named `…Ms`.
 * @throws LullError `INVALID_INPUT`
 */
export function inMs<T extends object>(given: T): InMs<T> {
  const members = Object.entries(given).map(([name, value]) => [
    name,
    name.endsWith('Ms') && value !== undefined ? durationMs(value, name) : value,
  ])
  return Object.fromEntries(members) as InMs<T>
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** A time span in words, with at most two units: `3 h 12 min`. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 1) return `${Math.round(ms)} ms`
  const first = units.findIndex(([, size]) => seconds >= size)
  const [word, size] = units[first] ?? (['s', 1] as const)
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1])
  const whole = `${Math.floor(seconds / size)} ${word}`
  return rest === 0 || next === undefined ? whole : `${whole} ${rest} ${next[0]}`
}
