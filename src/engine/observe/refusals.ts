/**
 * Bounds how many refused attempts are listed in a minute: the first ones of each caller, and the first ones of all callers
 * that are not known. Further ones are counted.
 */
import type { Clock } from '../../ports/clock.ts'
import type { AuditNote } from './audit.ts'
import { networkOf } from './network.ts'

export interface Refusals {
  note(entry: AuditNote): void
  /** Adds the counts of the minute that is under way. */
  end(): void
}

const MINUTE_MS = 60_000
const LISTED = 20
/** Of all strangers together, because a stranger may have any number of addresses. */
const STRANGERS_LISTED = 200
/** Callers that are told apart. The others are counted together. */
const CALLERS = 1_000

interface Counted {
  readonly last: AuditNote
  readonly listed: number
  readonly further: number
}

export function createRefusals(
  clock: Pick<Clock, 'now' | 'after'>,
  add: (note: AuditNote) => void,
): Refusals {
  const counted = new Map<string, Counted>()
  let strangersListed = 0
  let isPlanned = false

  function end(): void {
    isPlanned = false
    for (const { last, further } of counted.values()) {
      if (further === 0) continue
      const { taskId: _task, target: _target, ...who } = last
      add({ ...who, further })
    }
    counted.clear()
    strangersListed = 0
  }

  /** Counts the attempt. Returns whether it is listed. */
  function count(entry: AuditNote): boolean {
    const { tenant, principal, action, outcome } = entry
    const from = networkOf(entry.from)
    const isStranger = principal === undefined
    const own = JSON.stringify([tenant, principal, from, action, outcome])
    const isFull = isStranger
      ? strangersListed >= STRANGERS_LISTED
      : counted.size >= CALLERS && !counted.has(own)
    const key = isFull ? JSON.stringify([action, outcome]) : own
    const last = isFull ? { tenant: '*', action, outcome } : { ...entry, from }
    const { listed, further } = counted.get(key) ?? { listed: 0, further: 0 }
    const isListed = listed < LISTED && !(isFull && isStranger)
    counted.set(
      key,
      isListed ? { last, listed: listed + 1, further } : { last, listed, further: further + 1 },
    )
    if (isListed && isStranger) strangersListed++
    return isListed
  }

  return {
    note(entry) {
      if (count(entry)) add(entry)
      if (isPlanned) return
      isPlanned = true
      clock.after(MINUTE_MS, end)
    },
    end,
  }
}
