/**
 * Renders the suspension of a task for `_meta`: `lull.suspend` has the members of the RFC,
 * `harn.suspend` is the `WorkerSuspension` of the RFC. It is always complete, because a client may
 * have missed earlier updates.
 */

import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import { workerSuspension } from '../../../core/waiting/worker-suspension.ts'

/** Undefined for a task that was never stopped and is not held. */
export function suspendFacts(task: Task): JsonObject | undefined {
  const { suspension, pausing, holds } = task
  const stop = suspension ?? pausing
  const held = holds.length === 0 ? {} : { held: true }
  if (stop !== undefined) {
    return {
      state: suspension === undefined ? 'quiescing' : 'suspended',
      taskId: task.id,
      ...stopFacts(stop),
      ...held,
    }
  }
  const last = task.resumes.at(-1)
  if (last === undefined && holds.length === 0) return undefined
  return {
    state: 'active',
    taskId: task.id,
    epoch: task.epoch,
    ...(last === undefined
      ? {}
      : {
          handle: last.handle,
          cause: last.cause,
          hadResumeInput: last.hadResumeInput,
          continueTranscript: last.continueTranscript,
          resumedAt: toIso(last.resumedAt),
        }),
    ...held,
  }
}

/** The members of the RFC for one stop, and `epoch`. */
export function stopFacts(stop: Suspension): JsonObject {
  const { handle, epoch, initiator, reason, summary, mode, conditions, deadlineAt, mayStillAct } =
    stop
  return {
    handle,
    epoch,
    initiator,
    ...(reason === undefined ? {} : { reason }),
    ...(stop.pausedAt === undefined
      ? { requestedAt: toIso(stop.requestedAt) }
      : { suspendedAt: toIso(stop.pausedAt) }),
    ...(conditions === undefined ? {} : { resumeWhen: conditions as Json }),
    ...(summary === undefined ? {} : { summary }),
    ...(mode === undefined ? {} : { mode }),
    ...(deadlineAt === undefined ? {} : { deadlineAt: toIso(deadlineAt) }),
    ...(mayStillAct === undefined ? {} : { mayStillAct }),
  }
}

/** The form for Harn, in snake_case. Undefined for a task that was never stopped. */
export function harnFacts(task: Task): JsonObject | undefined {
  const stop = task.suspension ?? task.pausing
  if (stop !== undefined) {
    return {
      state: task.suspension === undefined ? 'quiescing' : 'suspended',
      ...workerSuspension(task, stop),
    }
  }
  const last = task.resumes.at(-1)
  return last && { state: 'active', handle: last.handle, cause: last.cause }
}
