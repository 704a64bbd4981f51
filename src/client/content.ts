/** What callers hand in as a message: a text, parts, or the whole of it. */
import type { Message, Part } from '../core/message.ts'
import { present } from './shape.ts'
import { uuid } from './uuid.ts'

/** A text, the parts of a message, or a message with an id of its own (sent again, it is the same message). */
export type Content = string | readonly Part[] | Message

export interface Addressed {
  /** The conversation it belongs to. */
  readonly contextId?: string | undefined
  /** The task it continues or answers. */
  readonly taskId?: string | undefined
  /** Tasks it refers to. */
  readonly referenceTaskIds?: readonly string[] | undefined
}

export function messageOf(content: Content, options: Addressed): Message {
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
