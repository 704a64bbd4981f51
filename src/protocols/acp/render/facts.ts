/**
 * Builds the `_meta` of tasks and sessions: their state under `lull` and, if configured, under
 * `harn`.
 */

import { textOf } from '../../../core/messages/message.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import { workerSuspension } from '../../../core/waiting/worker-suspension.ts'
import { wakeFacts } from '../suspend/stop-notices.ts'

export interface Facts {
  readonly ofTask: (task: Task) => JsonObject
  /** The metadata of a session with these open tasks. */
  readonly ofSession: (open: readonly Task[]) => JsonObject
}

export function createFacts(harnTunnel: boolean): Facts {
  const withHarn = (lull: JsonObject, task: Task | undefined): JsonObject => {
    const harn = harnTunnel && task !== undefined ? harnFacts(task) : undefined
    return { lull, ...(harn === undefined ? {} : { harn: { suspend: harn } }) }
  }
  return {
    ofTask: (task) => withHarn(taskFacts(task), task),
    ofSession(open) {
      const shown = foremost(open)
      const suspend = shown && suspendFacts(shown)
      const tasks = open.map(taskFacts)
      return withHarn({ ...(suspend === undefined ? {} : { suspend }), tasks }, shown)
    },
  }
}

/** The task that a wake without a handle resumes: the latest stopped one, else the latest one. */
function foremost(open: readonly Task[]): Task | undefined {
  const own = open.filter(({ parentId }) => parentId === undefined)
  return own.findLast(({ suspension, pausing }) => suspension ?? pausing) ?? own.at(-1)
}

function taskFacts(task: Task): JsonObject {
  const suspend = suspendFacts(task)
  const question = questionFacts(task)
  return {
    taskId: task.id,
    state: task.state,
    ...(suspend === undefined ? {} : { suspend }),
    ...(question === undefined ? {} : { question }),
  }
}

function questionFacts({ question, state }: Task): JsonObject | undefined {
  if (question === undefined || !isInterrupted(state)) return undefined
  const expiresAt = question.consent?.expiresAt ?? question.expiresAt
  return {
    text: textOf(question.message),
    ...(question.consent === undefined ? {} : { consentId: question.consent.consentId }),
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
  }
}

/**
 * The suspension of a task, with the members of the RFC. It is always complete, because a client may
 * have missed earlier updates. Undefined for a task that was never stopped and is not held.
 */
function suspendFacts(task: Task): JsonObject | undefined {
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
    ...(last === undefined ? {} : wakeFacts(last)),
    ...held,
  }
}

/** The members of the RFC for one stop, and `epoch`. */
function stopFacts(stop: Suspension): JsonObject {
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

/** The suspension as the `WorkerSuspension` of the RFC, in snake_case. Undefined for a task that was never stopped. */
function harnFacts(task: Task): JsonObject | undefined {
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
