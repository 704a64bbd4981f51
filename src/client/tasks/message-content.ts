/** The content of a message as callers give it. */
import type { Message, Part } from '../../core/message.ts'
import { uuid } from '../uuid.ts'
import { present } from '../wire/json-members.ts'

/** A text, the parts of a message, or a whole message. Sending a message with the same id again is idempotent. */
export type Content = string | readonly Part[] | Message

/** Where a message belongs. */
export interface MessageTarget {
  /** The conversation of the message. */
  readonly contextId?: string | undefined
  /** The task that the message continues or answers. */
  readonly taskId?: string | undefined
  /** Further tasks that the message refers to. */
  readonly referenceTaskIds?: readonly string[] | undefined
}

export function messageOf(content: Content, options: MessageTarget): Message {
  const { contextId, taskId, referenceTaskIds } = options
  return present<Message>({
    ...(isMessage(content) ? content : madeOf(content)),
    ...present<Partial<Message>>({ contextId, taskId, referenceTaskIds }),
  })
}

function madeOf(content: string | readonly Part[]): Message {
  const parts = typeof content === 'string' ? [{ text: content }] : content
  return { messageId: uuid(), role: 'ROLE_USER', parts }
}

function isMessage(content: Content): content is Message {
  return typeof content === 'object' && !Array.isArray(content)
}
