/**
 * Wakes a task whose deadline, schedule or instant is due. It continues running if a slot is free.
 */

import type { Task } from '../../core/task.ts'
import { nextDueAt } from '../../core/waiting/due.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Meter } from '../../ports/meter.ts'
import type { Runs } from '../executor/runs.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'

/** Resolves with false if nothing was due. */
export type WakeByTime = (taskId: string) => Promise<boolean>

export function createWakeByTime(deps: {
  readonly ledger: Pick<Ledger, 'read'>
  readonly runs: Pick<Runs, 'commit'>
  readonly ids: IdSource
  readonly clock: Pick<Clock, 'now'>
  readonly meter: Pick<Meter, 'observe'>
  /**
   * Resolves after an earlier event may have woken the task. Undefined when there is nothing to
   * wait for.
   */
  readonly before: (task: Task) => Promise<void> | undefined
}): WakeByTime {
  const { ledger, runs, ids, clock, meter, before } = deps
  return async (taskId) => {
    const first = await ledger.read(taskId)
    const waking = first && before(first)
    if (waking !== undefined) await waking
    const found = waking === undefined ? first : await ledger.read(taskId)
    if (found === undefined || isUnreadable(found)) return false
    const messageId = ids.uuid()
    const { records } = await runs.commit(taskId, found, (_task, run) => ({
      type: 'due',
      messageId,
      ...(run === undefined ? {} : { run }),
    }))
    if (records.length === 0) return false
    const dueAt = nextDueAt(found)
    if (dueAt !== undefined) meter.observe('lull_wake_lateness_seconds', clock.now() - dueAt)
    return true
  }
}
