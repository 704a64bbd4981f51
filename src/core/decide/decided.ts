import { type Refusal, refuse } from '../errors.ts'
import type { LogRecord, RecordBody } from '../records.ts'
import { isTerminal } from '../states.ts'
import type { Task } from '../task.ts'

export type Decided =
  | {
      readonly records: readonly RecordBody[]
      /**
       * Records copied from another task. They come first in the log, keep their instants and
       * already have their receipts.
       */
      readonly copied?: readonly LogRecord[]
      readonly refusal?: undefined
    }
  | { readonly refusal: Refusal; readonly records?: undefined }

export const nothing: Decided = { records: [] }

export function write(...records: readonly RecordBody[]): Decided {
  return { records }
}

/**
 * Refuses a command unless its run still has the task. A run whose task was paused, cancelled or
 * taken over may not write.
 */
export function asRun(task: Task, token: string, allowed: () => Decided): Decided {
  if (task.state !== 'working' || task.run?.token !== token) {
    return refuse('STALE_RUN', { taskId: task.id })
  }
  return allowed()
}

export function whileOpen(task: Task, allowed: () => Decided): Decided {
  if (isTerminal(task.state)) {
    return refuse('TASK_TERMINAL', { taskId: task.id, state: task.state })
  }
  return allowed()
}

/**
 * Puts the expiry of pending reminders in front of the last record of a task, because streams close
 * at the last record.
 */
export function ending(task: Pick<Task, 'reminders'>, last: RecordBody): readonly RecordBody[] {
  if (task.reminders.length === 0) return [last]
  const ids = task.reminders.map((item) => item.reminder.id)
  return [{ type: 'reminder-expired', ids, reason: 'task_ended' }, last]
}
