/**
 * Requests to the engine. The field names are those of the protocols. Requests that are verbs stand beside their operation.
 */

import { z } from 'zod'
import type { Message, MessageInput } from '../../core/messages/message.ts'
import type { Propagate, RoleHint } from '../../core/reminders/reminders.ts'
import { type State, states } from '../../core/states.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import type { TaskFilter } from '../../ports/store/tasks.ts'
import { list } from './bounded.ts'
import type { FieldsOf } from './exhaustive.ts'
import { BLANK, duration, id, NOT_BLANK, text } from './primitives.ts'
import { pauseMode, propagate, roleHint } from './unions.ts'

export interface SendRequest {
  /** The agent's name. Default: the first registered agent. Ignored when the message continues a task. */
  readonly agent?: string | undefined
  readonly message: MessageInput
  /** Default: the `messageId`, if it is a UUID. */
  readonly idempotencyKey?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** The protocol by which the message came. */
  readonly origin?: string | undefined
  /** The message must answer the open question of its task. Otherwise it is refused. */
  readonly onlyAnswer?: boolean | undefined
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

/** Requests to list, to wait and to subscribe. */
export const waitInput: z.ZodType<{ timeoutMs?: number | undefined }> = z.object({
  timeoutMs: duration.optional(),
})

export const subscribeInput: z.ZodType<{ after?: number | undefined }> = z.object({
  after: z.number().int().min(0).optional(),
})

export const listInput: z.ZodType<ListRequest> = z.strictObject({
  agent: id.optional(),
  contextId: id.optional(),
  parentId: id.optional(),
  states: list(z.enum(states as [State, ...State[]]), 64).optional(),
  held: z.boolean().optional(),
  statusAtFrom: z.number().optional(),
  cursor: text.max(4_096).optional(),
  limit: z.number().int().min(1).max(100).optional(),
} satisfies FieldsOf<ListRequest>) as z.ZodType<ListRequest>

/** An id, tag, key or source of a reminder. */
const mark = text.max(256, 'must be at most 256 characters').regex(NOT_BLANK, BLANK)

const TAGS_LIMIT = 32

export const reminderInput: z.ZodType<ReminderRequest> = z.strictObject({
  id: mark.optional(),
  body: text.max(16_384, 'must be at most 16,384 characters').regex(NOT_BLANK, BLANK),
  tags: list(mark, TAGS_LIMIT).optional(),
  dedupeKey: mark.nullish(),
  ttlTurns: z.number().int().positive('must be greater than 0').nullish(),
  preserveOnCompact: z.boolean().optional(),
  propagate: propagate.optional(),
  roleHint: roleHint.optional(),
  source: mark.nullish(),
  firedAtTurn: z.number().int().min(0).nullish(),
  mode: pauseMode.optional(),
} satisfies FieldsOf<ReminderRequest>)

export const listRemindersInput: z.ZodType<{ taskId: string }> = z.strictObject({ taskId: id })

export const listReceiptsInput: z.ZodType<{ taskId: string }> = z.strictObject({ taskId: id })
