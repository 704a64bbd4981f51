/** What a prompt became: work of a task, or an answer on the spot. */
import type { Message } from '../../../core/message.ts'
import type { Task } from '../../../core/task.ts'
import type { ResumeRequest } from '../../../engine/requests.ts'
import type { Meta } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import type { Attachment } from '../sessions/attachment.ts'

export interface PromptDeps {
  readonly connection: Connection
  readonly attachment: Attachment
  readonly meta: Meta
  /** The message the prompt is sent as, if it is sent as one. */
  readonly messageId: string
}

export type PromptOutcome = (
  | {
      readonly taskId: string
      /** The task when it needs somebody or has ended; undefined where the connection was lost first. */
      readonly settled: Promise<Task | undefined>
    }
  | {
      readonly reply: Message
      /** The task the reply is about. */
      readonly about?: Task
    }
) & {
  /** The log of a task holds the prompt as a message, so every client is shown it from there. */
  readonly recorded: boolean
}

export type Wake = Pick<ResumeRequest, 'handle' | 'input' | 'continueTranscript'>

/** A reply that the adapter makes itself. */
export function ownReply({ acp }: Connection, text: string): Message {
  return { messageId: acp.ids.uuid(), role: 'ROLE_AGENT', parts: [{ text }] }
}
