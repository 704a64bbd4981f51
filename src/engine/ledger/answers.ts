/** What those who wait for a commit are told. */
import { describeError } from '../../core/describe-error.ts'
import { isLullError, LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Committed, Plan, Waiting } from './plan.ts'

const noRecords: readonly LogRecord[] = []

export function unchanged(task: Task): Committed {
  return { task, records: noRecords, laterRecords: noRecords, latest: task }
}

export function answer(plan: Plan, one: Waiting): void {
  const { task, from, to } = one
  if (one.refusal !== undefined || task === undefined) {
    one.reject(one.refusal)
    return
  }
  const { records, task: latest = task } = plan
  one.resolve({
    task,
    records: to - from === records.length ? records : records.slice(from, to),
    laterRecords: to === records.length ? noRecords : records.slice(to),
    latest,
  })
}

export function rejectAll(waiting: readonly Waiting[], error: unknown): void {
  const reason = isLullError(error)
    ? error
    : new LullError('STORE_UNAVAILABLE', { why: describeError(error).message }, { cause: error })
  for (const one of waiting) one.reject(reason)
}
