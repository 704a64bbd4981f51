import type { Message } from '../messages/message.ts'
import type { Reminder } from '../reminders/reminders.ts'
import type { Json, JsonObject } from '../values/json.ts'
import type { SpanLink } from '../values/span-link.ts'

/** The part of a context that a task sees: what existed when the task was created. */
export interface ContextSnapshot {
  /** Each task is seen at this version. Later records of it are not seen. */
  readonly tasks: readonly (readonly [taskId: string, version: number])[]
  /** Stateless messages up to this position are seen. */
  readonly messagesUpTo: number
  /** The first of them that is seen. Absent: the newest 200 are seen. */
  readonly messagesFrom?: number
}

/** What creates a task. */
export interface Submission {
  readonly taskId: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly message: Message
  readonly parentId?: string | undefined
  /** The protocol that created the task. Closing an ACP session cancels only tasks that ACP created. */
  readonly origin?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** What the agent's schema made of the message. Absent for an agent without a schema. */
  readonly input?: Json | undefined
  /** Events up to this position arrived before the task existed, so they cannot wake it. */
  readonly eventsAfter: number
  readonly reminders?: readonly Reminder[] | undefined
  /** Absent for the first task of a context. */
  readonly seen?: ContextSnapshot | undefined
  /** The span that created the task. */
  readonly trace?: SpanLink | undefined
}
