/** Suspending and waking a task on behalf of a client. */
import { RequestError } from '@agentclientprotocol/sdk'
import { isLullError, LullError } from '../../../core/errors.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { PauseRequest } from '../../../engine/requests/pause-task.ts'
import type { ResumeRequest } from '../../../engine/requests/resume-task.ts'
import { isCancellation } from '../connection/cancellation.ts'
import type { AcpContext } from '../connection/context.ts'
import { wakeFacts } from './lifecycle.ts'
import { stopSummary } from './stop-summary.ts'

/**
 * Resolves with the task when it is suspended, however long the running step takes. `$/cancel_request` withdraws the
 * pause. A lost connection does not.
 */
export async function suspendTask(
  { engine }: AcpContext,
  caller: Caller,
  request: PauseRequest,
  signal: AbortSignal,
): Promise<Task> {
  const { taskId } = request
  const { handle } = await engine.pause(
    caller,
    { ...request, graceMs: 0 },
    { evenInputRequired: true, origin: 'acp' },
  )
  const settled = (task: Task): boolean => task.pausing?.handle !== handle
  const task = await engine.waitFor(caller, taskId, settled, { signal })
  if (task.suspension?.handle === handle) return task
  if (!settled(task)) {
    if (isCancellation(signal.reason)) await takeBack(engine, caller, taskId, handle)
    throw RequestError.requestCancelled()
  }
  const why = 'it ended or was resumed before it stopped'
  throw new LullError('TASK_NOT_PAUSABLE', { taskId, state: task.state, why })
}

async function takeBack(
  engine: AcpContext['engine'],
  caller: Caller,
  taskId: string,
  handle: string,
): Promise<void> {
  try {
    await engine.resume(caller, { taskId, handle })
  } catch (error) {
    if (!isLullError(error)) throw error
  }
}

/** The `SessionSuspendResponse` of the RFC. */
export function suspendResponse({ facts }: AcpContext, task: Task): JsonObject {
  const { suspension } = task
  if (suspension === undefined) throw new Error(`task ${task.id} is not suspended`)
  const { handle, reason, pausedAt, requestedAt, conditions } = suspension
  return {
    handle,
    ...(reason === undefined ? {} : { reason }),
    suspendedAt: toIso(pausedAt ?? requestedAt),
    ...(conditions === undefined ? {} : { resumeWhen: conditions as Json }),
    summary: stopSummary(task, suspension),
    _meta: facts.ofTask(task),
  }
}

export async function wakeTask(
  { engine }: AcpContext,
  caller: Caller,
  request: ResumeRequest,
): Promise<JsonObject> {
  const answer = await engine.resume(caller, request)
  return { ...wakeFacts(answer), _meta: { lull: { taskId: request.taskId } } }
}
