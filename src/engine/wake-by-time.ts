/** Wakes a task whose deadline, schedule or instant is due. Its run continues if a slot is free. */
import type { IdSource } from '../ports/ids.ts'
import { isUnreadable } from './ledger/unreadable-task.ts'
import type { Ledger } from './ledger.ts'
import type { Runs } from './runs.ts'

/** Resolves with false when nothing was due. */
export type WakeByTime = (taskId: string) => Promise<boolean>

export function createWakeByTime(deps: {
  readonly ledger: Pick<Ledger, 'read'>
  readonly runs: Pick<Runs, 'commit'>
  readonly ids: IdSource
}): WakeByTime {
  const { ledger, runs, ids } = deps
  return async (taskId) => {
    const found = await ledger.read(taskId)
    if (found === undefined || isUnreadable(found)) return false
    const messageId = ids.uuid()
    const { records } = await runs.commit(taskId, found, (_task, run) => ({
      type: 'due',
      messageId,
      ...(run === undefined ? {} : { run }),
    }))
    return records.length > 0
  }
}
