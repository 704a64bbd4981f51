import type { Message } from '../messages/message.ts'
import type { Reminder } from '../reminders/reminders.ts'
import type { Json, JsonObject } from '../values/json.ts'
import type { SpanLink } from '../values/span-link.ts'

/** Which part of a context a task sees: only what existed when the task was created. */
export interface ContextSnapshot {
  /** The tasks that are seen, each at this version. Later records are not seen. */
  readonly tasks: readonly (readonly [taskId: string, version: number])[]
  /** Stateless messages up to this position are seen. */
  readonly messagesUpTo: number
  /** The first of these messages that is seen. Absent: the newest 200 are seen. */
  readonly messagesFrom?: number
}

/** The request that creates a task. */
export interface Submission {
  readonly taskId: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly message: Message
  readonly parentId?: string | undefined
  /** How many parents are above it. Absent for a task without a parent. */
  readonly depth?: number | undefined
  /** The protocol that created the task. Closing an ACP session cancels only tasks that ACP created. */
  readonly origin?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** The message as parsed by the agent's schema. Absent for an agent without a schema. */
  readonly input?: Json | undefined
  /** Events up to this position arrived before the task existed, so they cannot wake it. */
  readonly eventsAfter: number
  readonly reminders?: readonly Reminder[] | undefined
  /** Absent for the first task of a context. */
  readonly seen?: ContextSnapshot | undefined
  /** The trace span of the request that created the task. */
  readonly trace?: SpanLink | undefined
}
