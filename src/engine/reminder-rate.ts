/**
 * How many reminders a principal may add in a minute, and the principals of a tenant together. Each reminder is a record in
 * the log of its task, and one message can have many of them. A principal that pauses for a minute may add as many at once.
 */
import { LullError } from '../core/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Caller } from './caller.ts'
import type { EngineOptions } from './options.ts'

/** @throws LullError `LIMIT_EXCEEDED`, with the name of the limit and when to try again */
export type AdmitReminders = (
  caller: Pick<Caller, 'tenant' | 'principal'>,
  reminders: number,
) => void

interface Allowance {
  left: number
  /** When it was counted. */
  at: number
}

const MINUTE_MS = 60_000
/** Principals and tenants whose allowance is kept in memory. */
const KEPT = 10_000

export function createReminderRate(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly options: Pick<EngineOptions, 'remindersPerMinute' | 'tenantFactor'>
}): AdmitReminders {
  const { clock, options } = deps
  const allowances = new Map<string, Allowance>()

  function allowanceOf(key: string, most: number): Allowance {
    const now = clock.now()
    if (allowances.size >= KEPT) allowances.clear()
    const known = allowances.get(key) ?? { left: most, at: now }
    known.left = Math.min(most, known.left + ((now - known.at) / MINUTE_MS) * most)
    known.at = now
    allowances.set(key, known)
    return known
  }

  return ({ tenant, principal }, reminders) => {
    const ofTenant = options.remindersPerMinute * options.tenantFactor
    const limits = [
      ['principal', JSON.stringify([tenant, principal]), options.remindersPerMinute],
      ['tenant', JSON.stringify([tenant]), ofTenant],
    ] as const
    const found = limits.map(([of, key, value]) => ({
      of,
      value,
      allowance: allowanceOf(key, value),
    }))
    for (const { of, value, allowance } of found) {
      if (allowance.left >= reminders) continue
      const retryAfterMs = Math.ceil(((reminders - allowance.left) / value) * MINUTE_MS)
      const limit = `remindersPerMinute of the ${of}`
      throw new LullError('LIMIT_EXCEEDED', { limit, value, retryAfterMs })
    }
    for (const { allowance } of found) allowance.left -= reminders
  }
}
