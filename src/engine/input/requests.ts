/**
 * Requests to the engine. The field names are those of the protocols. `inputs.ts` checks every request when it arrives.
 */
import type { Message, MessageInput } from '../../core/messages/message.ts'
import type { Propagate, RoleHint } from '../../core/reminders/reminders.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import type { TaskFilter } from '../../ports/store/tasks.ts'

export interface SendRequest {
  /** The agent's name. Default: the first registered agent. Ignored when the message continues a task. */
  readonly agent?: string | undefined
  readonly message: MessageInput
  /** Default: the `messageId`, if it is a UUID. */
  readonly idempotencyKey?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** The protocol by which the message came. */
  readonly origin?: string | undefined
  /** Reminders for the task. The turn that sees the message sees them too. A stateless reply ignores them. */
  readonly reminders?: readonly ReminderRequest[] | undefined
}

export interface CheckedSendRequest extends SendRequest {
  readonly message: Message
}

export interface ReminderRequest {
  readonly id?: string | undefined
  readonly body: string
  readonly tags?: readonly string[] | undefined
  readonly dedupeKey?: string | null | undefined
  readonly ttlTurns?: number | null | undefined
  readonly preserveOnCompact?: boolean | undefined
  readonly propagate?: Propagate | undefined
  readonly roleHint?: RoleHint | undefined
  readonly source?: string | null | undefined
  readonly firedAtTurn?: number | null | undefined
  readonly mode?: PauseMode | undefined
}

export interface ParkRequest {
  readonly reason: string
  readonly summary?: string | undefined
  readonly conditions?: ResumeConditions | null | undefined
}

/** The filters of the store, but for those that follow from the caller. */
export type ListRequest = {
  readonly [F in Exclude<keyof TaskFilter, 'tenant' | 'principal'>]?: TaskFilter[F] | undefined
} & {
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined
  /** Default 50, at most 100. */
  readonly limit?: number | undefined
}

/** The filters of a list, without the state. */
export type CountRequest = Omit<ListRequest, 'states' | 'cursor' | 'limit'>
