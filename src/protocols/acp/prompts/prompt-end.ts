/**
 * Builds the answer to a prompt. A stop is `end_turn`; only `session/cancel` and `session/close`
 * lead to `cancelled`.
 */
import { type PromptResponse, RequestError, type StopReason } from '@agentclientprotocol/sdk'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { INTERNAL } from '../connection/faults.ts'
import type { Facts } from '../render/facts.ts'

/** @throws RequestError when the task failed */
export function promptResponse(facts: Facts, task: Task): PromptResponse {
  if (task.state === 'failed') {
    throw new RequestError(INTERNAL, failureOf(task), {
      reason: 'failed',
      taskId: task.id,
      _meta: facts.ofTask(task),
    })
  }
  return { stopReason: stopReasonOf(task), _meta: facts.ofTask(task) }
}

/** The parameters of `_session/turn_ended`, which is sent when no prompt waits for the task. */
export function turnEnded(facts: Facts, task: Task): JsonObject {
  return {
    taskId: task.id,
    stopReason: stopReasonOf(task),
    ...(task.state === 'failed' ? { error: { message: failureOf(task) } } : {}),
    _meta: facts.ofTask(task),
  }
}

function stopReasonOf({ state }: Task): StopReason & ('end_turn' | 'cancelled' | 'refusal') {
  if (state === 'canceled') return 'cancelled'
  return state === 'rejected' ? 'refusal' : 'end_turn'
}

function failureOf({ failure }: Task): string {
  return failure?.message ?? 'The task failed'
}
