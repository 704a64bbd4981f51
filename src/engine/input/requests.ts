/**
 * Requests to the engine. The field names are those of the protocols. `inputs.ts` checks every request when it arrives.
 */
import type { Measure, Per } from '../../core/budgets/budget.ts'
import type { Message, MessageInput } from '../../core/messages/message.ts'
import type { Propagate, RoleHint } from '../../core/reminders/reminders.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { Json, JsonInput, JsonObject } from '../../core/values/json.ts'
import type { EventFilter, ResumeConditions } from '../../core/waiting/conditions.ts'
import type { HoldScope } from '../../ports/store/holds.ts'
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

export interface PauseRequest {
  readonly taskId: string
  readonly reason?: string | undefined
  /** Default `finish_step`. */
  readonly mode?: PauseMode | undefined
  readonly conditions?: ResumeConditions | null | undefined
  /** How long the answer may wait until the task is paused. Default 10,000, at most 60,000. */
  readonly graceMs?: number | undefined
  /** Pause its sub-tasks too. */
  readonly cascade?: boolean | undefined
  readonly metadata?: JsonObject | undefined
}

export interface ResumeRequest {
  readonly taskId: string
  readonly handle?: string | null | undefined
  readonly input?: JsonInput | undefined
  /** Default true. */
  readonly continueTranscript?: boolean | undefined
  /** With `metadata.idempotencyKey`, a repeated resume returns the first answer. */
  readonly metadata?: JsonObject | undefined
}

export interface CheckedResumeRequest extends ResumeRequest {
  readonly input?: Json | undefined
}

export interface ForkRequest {
  /** The task whose past the new one has. It may have ended. */
  readonly taskId: string
  /**
   * The operation that runs next: the name of a step or tool, `park` or `ask`, with `#2` for the second of that name; its
   * key in the journal; or the number of its record.
   */
  readonly at: string
  /** What the new task gets as the input of its wake. */
  readonly input?: JsonInput | undefined
  /** The new task stays paused until it is resumed. */
  readonly paused?: boolean | undefined
  /** A second request of the same caller with the same key gets the task of the first one. */
  readonly idempotencyKey?: string | undefined
}

export interface CheckedForkRequest extends ForkRequest {
  readonly input?: Json | undefined
}

export interface CancelRequest {
  readonly taskId: string
  readonly reason?: string | undefined
  readonly metadata?: JsonObject | undefined
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

export interface RemindRequest {
  readonly taskId: string
  readonly reminder: ReminderRequest
  readonly metadata?: JsonObject | undefined
}

export interface ClearRemindersRequest {
  readonly taskId: string
  readonly id?: string | undefined
  readonly tag?: string | undefined
  readonly dedupeKey?: string | undefined
}

/** A park that a worker outside the process asks for. */
export interface ParkTaskRequest extends ParkRequest {
  readonly taskId: string
  readonly metadata?: JsonObject | undefined
}

export interface ParkRequest {
  readonly reason: string
  readonly summary?: string | undefined
  readonly conditions?: ResumeConditions | null | undefined
}

export interface HoldRequest {
  readonly scope: HoldScope
  readonly reason: string
  /** Also hold tasks that are created later. */
  readonly holdNew?: boolean | undefined
}

/** One limit. Setting it again, with the same scope, measure and period, changes the limit. */
export interface SetBudgetRequest {
  readonly scope: HoldScope
  readonly measure: Measure
  /** In the measure: tokens, dollars, milliseconds or turns. */
  readonly limit: number
  /** Default `life`. */
  readonly per?: Per | undefined
  /** False: tasks that the budget has stopped stay stopped, also where more is allowed now. */
  readonly resume?: boolean | undefined
}

export interface RefillRequest {
  readonly budgetId: string
  /** Allowed in addition, in this period. Absent: the count starts again at zero. */
  readonly amount?: number | undefined
  /** False: tasks that the budget has stopped stay stopped. */
  readonly resume?: boolean | undefined
}

/** Has exactly one of `onEvent`, `filter` and `budget`. */
export interface RuleRequest extends HoldRequest {
  readonly onEvent?: string | undefined
  readonly filter?: EventFilter | undefined
  readonly budget?: { readonly id: string; readonly percent: number } | undefined
  /** Default `interrupt_immediate`. */
  readonly mode?: PauseMode | undefined
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
