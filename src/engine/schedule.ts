/** When a trigger of time fires next. Cron expressions and time zones are croner's business. */
import { Cron } from 'croner'
import type { ResumeConditions } from '../core/conditions.ts'
import { LullError } from '../core/errors.ts'

/** @throws LullError `INVALID_INPUT` for a schedule that cannot be read or never fires */
export function fireAt(conditions: ResumeConditions | undefined, now: number): number | undefined {
  const trigger = conditions?.trigger
  if (trigger === undefined || 'filter' in trigger) return undefined
  if ('at' in trigger) return instantOf(trigger.at)
  const { cron, timezone } = trigger.schedule
  const path = 'conditions.trigger.schedule.cron'
  let next: number | undefined
  try {
    const job = new Cron(cron, { paused: true, ...(timezone === undefined ? {} : { timezone }) })
    next = job.nextRun(new GlobalDate(now))?.getTime()
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new LullError('INVALID_INPUT', { path, problem })
  }
  if (next === undefined) throw new LullError('INVALID_INPUT', { path, problem: 'never fires' })
  return next
}

// biome-ignore lint/style/noRestrictedGlobals: conversions only; the clock comes in as `now`
const GlobalDate: DateConstructor = Date

function instantOf(iso: string): number {
  return GlobalDate.parse(iso)
}
