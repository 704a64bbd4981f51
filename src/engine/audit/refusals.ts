/** Bounds how many refused attempts are listed: the first ones of each caller in a minute. Further ones are counted. */
import type { Clock } from '../../ports/clock.ts'
import type { AuditNote } from '../audit.ts'

export interface Refusals {
  note(entry: AuditNote): void
  /** Adds the counts of the minute that is under way. */
  end(): void
}

const MINUTE_MS = 60_000
const LISTED = 20
/** Callers that are told apart. Strangers choose their addresses, so there may be any number. */
const CALLERS = 1_000

interface Counted {
  readonly last: AuditNote
  readonly count: number
}

export function createRefusals(
  clock: Pick<Clock, 'now' | 'after'>,
  add: (note: AuditNote) => void,
): Refusals {
  const counted = new Map<string, Counted>()
  let isPlanned = false

  function end(): void {
    isPlanned = false
    for (const { last, count } of counted.values()) {
      if (count <= LISTED) continue
      const { taskId: _task, target: _target, ...who } = last
      add({ ...who, further: count - LISTED })
    }
    counted.clear()
  }

  return {
    note(entry) {
      const { tenant, principal, from, action, outcome } = entry
      const own = JSON.stringify([tenant, principal, from, action, outcome])
      const key = counted.has(own) || counted.size < CALLERS ? own : 'others'
      const count = (counted.get(key)?.count ?? 0) + 1
      counted.set(key, { last: key === own ? entry : { tenant: '*', action, outcome }, count })
      if (count <= LISTED) add(entry)
      if (isPlanned) return
      isPlanned = true
      clock.after(MINUTE_MS, end)
    },
    end,
  }
}
