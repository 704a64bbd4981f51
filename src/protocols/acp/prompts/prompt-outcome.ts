/** The effect of a prompt (work of a task, or an immediate reply), and the answer that the client gets. */

import { type PromptResponse, RequestError, type StopReason } from '@agentclientprotocol/sdk'
import type { Message } from '../../../core/messages/message.ts'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { ResumeRequest } from '../../../engine/requests/resume-task.ts'
import type { Meta } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import { INTERNAL } from '../connection/faults.ts'
import type { Facts } from '../render/facts.ts'
import type { Attachment } from '../sessions/attachment.ts'

export interface PromptDeps {
  readonly connection: Connection
  readonly attachment: Attachment
  readonly meta: Meta
  /** The message id of the prompt. */
  readonly messageId: string
}

export type PromptOutcome = (
  | {
      readonly taskId: string
      /**
       * Resolves with the task when it is idle, or with undefined when the connection was lost
       * first.
       */
      readonly settled: Promise<Task | undefined>
    }
  | {
      readonly reply: Message
      /** The task that the reply is about. */
      readonly about?: Task
    }
) & {
  /** Whether the prompt is a message in the log of a task, from which every client gets it. */
  readonly recorded: boolean
}

export type Wake = Pick<ResumeRequest, 'handle' | 'input' | 'continueTranscript'>

/** A reply by the adapter itself, not by an agent. */
export function ownReply({ acp }: Connection, text: string): Message {
  return { messageId: acp.ids.uuid(), role: 'ROLE_AGENT', parts: [{ text }] }
}

/**
 * Builds the answer to a prompt. A stop is `end_turn`; only `session/cancel` and `session/close`
 * lead to `cancelled`.
 * @throws RequestError when the task failed
 */
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
