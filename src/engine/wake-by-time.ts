/** The clock reached an instant of a task: the task is told, and its run goes on where a slot is free. */
import type { IdSource } from '../ports/ids.ts'
import type { Ledger } from './ledger.ts'
import type { Runs } from './runs.ts'

/** False: there was nothing to do. */
export type WakeByTime = (taskId: string) => Promise<boolean>

export function createWakeByTime(deps: {
  readonly ledger: Pick<Ledger, 'read'>
  readonly runs: Pick<Runs, 'commit'>
  readonly ids: IdSource
}): WakeByTime {
  const { ledger, runs, ids } = deps
  return async (taskId) => {
    const agent = (await ledger.read(taskId))?.agent
    if (agent === undefined) return false
    const messageId = ids.uuid()
    const { records } = await runs.commit(taskId, agent, (_task, run) => ({
      type: 'due',
      messageId,
      ...(run === undefined ? {} : { run }),
    }))
    return records.length > 0
  }
}
