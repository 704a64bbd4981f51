/** The effect of a prompt: work of a task, or an immediate reply. */
import type { Message } from '../../../core/messages/message.ts'
import type { Task } from '../../../core/task.ts'
import type { ResumeRequest } from '../../../engine/requests/resume-task.ts'
import type { Meta } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
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
