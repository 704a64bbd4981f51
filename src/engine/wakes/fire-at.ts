/** Computes when the time trigger of a stop fires next. */

import { LullError } from '../../core/errors.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { nextFire } from './cron.ts'

/** @throws LullError `INVALID_INPUT` for a schedule that cannot be read or does not fire in the next 40 years */
export function fireAt(conditions: ResumeConditions | undefined, now: number): number | undefined {
  const trigger = conditions?.trigger
  if (trigger === undefined || 'filter' in trigger) return undefined
  if ('at' in trigger) return instantOf(trigger.at)
  const { cron, timezone } = trigger.schedule
  const next = nextFire(cron, timezone, now)
  if (next.problem === undefined) return next.at
  const path = `conditions.trigger.schedule.${next.wrong}`
  throw new LullError('INVALID_INPUT', { path, problem: next.problem })
}

// biome-ignore lint/style/noRestrictedGlobals: a conversion only; the clock comes in as `now`
const GlobalDate: DateConstructor = Date

function instantOf(iso: string): number {
  return GlobalDate.parse(iso)
}
