/** When a trigger of time fires next. Cron expressions and time zones are croner's business. */

import { Cron } from 'croner'
import type { ResumeConditions } from '../core/conditions.ts'
import { describeError } from '../core/describe-error.ts'
import { LullError } from '../core/errors.ts'

/** @throws LullError `INVALID_INPUT` for a schedule that cannot be read or never fires */
export function fireAt(conditions: ResumeConditions | undefined, now: number): number | undefined {
  const trigger = conditions?.trigger
  if (trigger === undefined || 'filter' in trigger) return undefined
  if ('at' in trigger) return instantOf(trigger.at)
  const { cron, timezone } = trigger.schedule
  const place = 'conditions.trigger.schedule'
  const next = nextRun(`${place}.cron`, cron, now)
  if (next === undefined) {
    throw new LullError('INVALID_INPUT', { path: `${place}.cron`, problem: 'never fires' })
  }
  // What can be read without its time zone can only be wrong in that.
  return timezone === undefined ? next : nextRun(`${place}.timezone`, cron, now, { timezone })
}

function nextRun(
  path: string,
  cron: string,
  now: number,
  zone: { readonly timezone?: string } = {},
): number | undefined {
  try {
    return new Cron(cron, { paused: true, ...zone }).nextRun(new GlobalDate(now))?.getTime()
  } catch (error) {
    const problem = describeError(error).message
    throw new LullError('INVALID_INPUT', { path, problem })
  }
}

// biome-ignore lint/style/noRestrictedGlobals: conversions only; the clock comes in as `now`
const GlobalDate: DateConstructor = Date

function instantOf(iso: string): number {
  return GlobalDate.parse(iso)
}
