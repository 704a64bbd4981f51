/** Builds records that every kind of stop uses. */

import type { Question, RecordBody } from '../records.ts'
import type { NewOperation, PolicyReason, Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import type { ResumeConditions } from '../waiting/conditions.ts'

const MINUTE_MS = 60_000

/** The deadline counts from the commit of the stop, not from its request. */
export function deadline(conditions: ResumeConditions | undefined, at: number): number | undefined {
  const minutes = conditions?.timeout?.durationMinutes
  return minutes === undefined ? undefined : at + Math.ceil(minutes * MINUTE_MS)
}

/** Requests a pause. It commits at once if no operation is in flight (`still`). */
export function requestStop(
  task: Task,
  suspension: Suspension,
  still: boolean,
  at: number,
): readonly RecordBody[] {
  if (!still) return [{ type: 'pause-requested', suspension, quiesces: true }]
  return [{ type: 'pause-requested', suspension }, stopNow(task, at, suspension)]
}

/** The record that commits a pause that was requested. */
export function stopNow(task: Task, at: number, request?: Suspension, fireAt?: number): RecordBody {
  const suspension = request ?? task.pausing
  if (suspension === undefined) throw new Error(`task ${task.id}: no pause was requested`)
  const deadlineAt = deadline(suspension.conditions, at)
  const firesAt = fireAt ?? suspension.fireAt
  return {
    type: 'paused',
    handle: suspension.handle,
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(firesAt === undefined ? {} : { fireAt: firesAt }),
  }
}

/** Marks a stop of a run whose process died. Operations in flight may have begun. */
export function withDeath(task: Task, record: RecordBody): RecordBody {
  return record.type === 'paused' && task.run !== undefined ? { ...record, inFlight: true } : record
}

/**
 * Stops a task by policy. If a pause is already under way, the stop keeps the handle of that pause.
 */
export function policyStop(
  task: Task,
  policy: {
    readonly handle: string
    readonly reason: PolicyReason
    readonly summary: string
    readonly mismatch?: string
    readonly newOperations?: readonly NewOperation[]
  },
  still: boolean,
  at: number,
): readonly RecordBody[] {
  const suspension: Suspension = {
    handle: task.pausing?.handle ?? policy.handle,
    epoch: task.epoch + 1,
    initiator: 'client',
    actor: { kind: 'policy', id: policy.reason },
    mode: 'interrupt_immediate',
    reason: policy.reason,
    summary: policy.summary,
    requestedAt: at,
    pausedFrom: task.state,
    eventsAfter: 0,
    ...(policy.mismatch === undefined ? {} : { mismatch: policy.mismatch }),
    ...(policy.newOperations === undefined ? {} : { newOperations: policy.newOperations }),
  }
  return requestStop(task, suspension, still, at)
}

export function expiresAt(question: Question): number | undefined {
  return question.expiresAt ?? question.consent?.expiresAt
}

export function expired(question: Question, at: number): boolean {
  const limit = expiresAt(question)
  return limit !== undefined && limit <= at
}
