/** Decides a resume, and builds the records of every wake. Exactly one cause ends a suspension. */
import type { Command } from '../commands.ts'
import { refuse } from '../errors.ts'
import { sameSecret } from '../receipts/same-secret.ts'
import type { DeferredAction, RecordBody, RunToken } from '../records.ts'
import type { Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import { type Decided, nothing, write } from './decided.ts'

export function resume(task: Task, command: Command & { readonly type: 'resume' }): Decided {
  const { actor, cause, handle, idempotencyKey } = command
  if (
    idempotencyKey !== undefined &&
    task.resumes.some((r) => r.idempotencyKey === idempotencyKey)
  ) {
    return nothing
  }
  const stopped = task.suspension ?? task.pausing
  if (stopped === undefined) return notPaused(task, handle)
  if (handle === undefined && command.requireHandle) {
    return refuse('INVALID_INPUT', { path: 'handle', problem: 'is required by this server' })
  }
  if (handle !== undefined && !sameSecret(handle, stopped.handle)) {
    return refuse('RESUME_HANDLE_MISMATCH', { taskId: task.id, handle })
  }
  if (task.holds.length > 0) return refuse('TASK_HELD', { taskId: task.id, holdIds: task.holds })
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  if (task.pausing?.mismatch !== undefined || task.pausing?.newOperations !== undefined) {
    // A resume that accepts changed code rebuilds the run, so the task must be paused and not only
    // about to pause.
    return refuse('TASK_NOT_PAUSED', { taskId: task.id, state: task.state })
  }
  const { input, continueTranscript, run } = command
  if (task.suspension === undefined) {
    const given = input === null ? {} : { input }
    return write({
      type: 'pause-withdrawn',
      handle: stopped.handle,
      actor,
      cause,
      ...given,
      ...key,
    })
  }
  const wake = { kind: 'wake', cause, input, continueTranscript } as const
  const who = { actor, ...key }
  if (task.deferred?.kind !== 'answer') {
    return { records: wakeRecords(task.suspension, wake, run, who) }
  }
  // A question that was paused has been answered while a hold was in effect. The answer follows the
  // wake.
  const { kind: _, ...answer } = task.deferred
  const answered: RecordBody = {
    type: 'answered',
    ...answer,
    ...(run === undefined ? {} : { run }),
  }
  return { records: [...wakeRecords(task.suspension, wake, undefined, who), answered] }
}

/**
 * Refuses a resume of a task that is not paused. If the caller names a handle, the error describes
 * what ended that suspension, and no other one.
 */
function notPaused(task: Task, handle: string | undefined): Decided {
  const winner = task.resumes.findLast((r) => handle === undefined || r.handle === handle)
  const { id: taskId, state } = task
  if (winner === undefined) return refuse('TASK_NOT_PAUSED', { taskId, state })
  const { cause, resumedAt } = winner
  return refuse('TASK_NOT_PAUSED', { taskId, state, cause, resumedAt })
}

/** The records of a wake. If the task was stopped as `code-changed`, they accept the changed code. */
export function wakeRecords(
  suspension: Suspension,
  wake: DeferredAction & { readonly kind: 'wake' },
  run: RunToken | undefined,
  who: Pick<RecordBody & { type: 'resumed' }, 'actor' | 'idempotencyKey'>,
): readonly RecordBody[] {
  const { kind: _, ...facts } = wake
  const resumed: RecordBody = {
    type: 'resumed',
    handle: suspension.handle,
    ...facts,
    ...who,
    ...(run === undefined ? {} : { run }),
  }
  const { mismatch, newOperations = [] } = suspension
  return [
    resumed,
    ...(mismatch === undefined ? [] : [{ type: 'voided', key: mismatch } as const]),
    ...newOperations.map((one) => ({ type: 'voided', ...one }) as const),
  ]
}
