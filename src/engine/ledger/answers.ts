/** Answers the callers that wait for a commit. */

import { isLullError, LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { Plan, Waiting } from './plan.ts'

const noRecords: readonly LogRecord[] = []

/**
 * The commit was written, or nothing had to be written: each caller gets its own records or its
 * refusal.
 */
export function answerAll(plan: Plan): void {
  for (const one of plan.waiting) answer(plan, one)
}

function answer({ records, task: latest }: Plan, one: Waiting): void {
  const { task, from, to } = one
  if (one.refusal !== undefined || task === undefined) {
    one.reject(one.refusal)
    return
  }
  one.resolve({
    task,
    records: to - from === records.length ? records : records.slice(from, to),
    laterRecords: to === records.length ? noRecords : records.slice(to),
    latest: latest ?? task,
  })
}

/**
 * Another task has the idempotency key. The caller that wanted it gets the existing claim. The
 * other commands fail, because their task does not exist.
 */
export function answerClaimed({ entry, waiting, task }: Plan, claimed: Claim): void {
  const shown = entry.task ?? task
  for (const one of waiting) {
    if (one.extras.claim !== undefined && shown !== undefined)
      one.resolve({ ...unchanged(shown), claimed })
    else one.reject(new LullError('TASK_NOT_FOUND', { taskId: entry.id }))
  }
}

function unchanged(task: Task) {
  return { task, records: noRecords, laterRecords: noRecords, latest: task }
}

export function rejectAll(waiting: readonly Waiting[], error: unknown): void {
  const reason = isLullError(error)
    ? error
    : new LullError('STORE_UNAVAILABLE', { why: describeError(error).message }, { cause: error })
  for (const one of waiting) one.reject(reason)
}
