/**
 * How many reminders a principal may add in a minute, and the principals of a tenant together. Each reminder is a record in
 * the log of its task, and one message can have many of them. A principal that pauses for a minute may add as many at once.
 * Each process counts for itself.
 */
import { LullError } from '../../../core/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Caller } from '../../caller.ts'
import type { EngineOptions } from '../../options.ts'

/**
 * @throws LullError `LIMIT_EXCEEDED`, with the name of the limit and when to try again. More reminders at once than the
 * limit are never admitted, so there is no time to try them again.
 */
export type AdmitReminders = (
  caller: Pick<Caller, 'tenant' | 'principal'>,
  reminders: number,
) => void

interface Allowance {
  left: number
  /** When it was counted, in elapsed time: setting the wall clock changes no allowance. */
  at: number
}

const MINUTE_MS = 60_000
/** Principals and tenants whose allowance is kept in memory. */
const KEPT = 10_000

export function createReminderRate(deps: {
  readonly clock: Pick<Clock, 'elapsed'>
  readonly options: Pick<EngineOptions, 'remindersPerMinute' | 'tenantFactor'>
}): AdmitReminders {
  const { clock, options } = deps
  const allowances = new Map<string, Allowance>()

  function allowanceOf(key: string, most: number): Allowance {
    const now = clock.elapsed()
    const known = allowances.get(key) ?? { left: most, at: now }
    known.left = Math.min(most, known.left + ((now - known.at) / MINUTE_MS) * most)
    known.at = now
    // The order of the map is the order of use. The allowance of a tenant is used with that of each of its principals.
    allowances.delete(key)
    allowances.set(key, known)
    const [oldest] = allowances.keys()
    if (allowances.size > KEPT && oldest !== undefined) allowances.delete(oldest)
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
      const limit = `remindersPerMinute of the ${of}`
      if (reminders > value) throw new LullError('LIMIT_EXCEEDED', { limit, value })
      const retryAfterMs = Math.ceil(((reminders - allowance.left) / value) * MINUTE_MS)
      throw new LullError('LIMIT_EXCEEDED', { limit, value, retryAfterMs })
    }
    for (const { allowance } of found) allowance.left -= reminders
  }
}
