/** What a prompt led to: work of a task, or an immediate reply. */
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
  /** The id of the prompt as a message. */
  readonly messageId: string
}

export type PromptOutcome = (
  | {
      readonly taskId: string
      /** The task when it is idle. Undefined: the connection was lost first. */
      readonly settled: Promise<Task | undefined>
    }
  | {
      readonly reply: Message
      /** The task the reply is about. */
      readonly about?: Task
    }
) & {
  /** The prompt is a message in the log of a task, so every client gets it from there. */
  readonly recorded: boolean
}

export type Wake = Pick<ResumeRequest, 'handle' | 'input' | 'continueTranscript'>

/** A reply of the adapter. */
export function ownReply({ acp }: Connection, text: string): Message {
  return { messageId: acp.ids.uuid(), role: 'ROLE_AGENT', parts: [{ text }] }
}
