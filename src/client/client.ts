/** The client of one agent. Every operation is a method. */

import type { State } from '../core/states.ts'
import type { JsonObject } from '../core/values/json.ts'
import type { ReceiptReport } from '../wire/ops/logs.ts'
import type { AgentCard, Capabilities } from './card.ts'
import type { ConsentAnswer, Content, MessageTarget } from './tasks/message-content.ts'
import type {
  ParkInput,
  PausedOutcome,
  PauseFallback,
  PauseInput,
  PauseOutcome,
  PausingOutcome,
  ResumeInput,
  ResumeResult,
} from './tasks/pause-and-resume.ts'
import type {
  ReminderFallback,
  ReminderInput,
  ReminderSelection,
  RemindOutcome,
} from './tasks/remind.ts'
import type { PendingReminder, SendResult, Task, TaskFrame, TaskPage } from './tasks/task-types.ts'
import type { WatchOptions } from './tasks/watch.ts'
import type { Binding, Version } from './wire/a2a-names.ts'

export interface CallSignal {
  /** Aborts the call. The peer may still carry it out. */
  readonly signal?: AbortSignal | undefined
}

export interface SendOptions extends MessageTarget, CallSignal {
  /** Resolve as soon as the task exists, instead of when it ends, waits for input or is paused. */
  readonly returnImmediately?: boolean | undefined
  readonly historyLength?: number | undefined
  readonly acceptedOutputModes?: readonly string[] | undefined
  readonly metadata?: JsonObject | undefined
  /** Peers with idempotency keys answer the same key and message with the same task. A UUID as `messageId` does the same. */
  readonly idempotencyKey?: string | undefined
}

export interface ListFilter {
  readonly contextId?: string | undefined
  /** A2A has fewer states than Lull, so the client filters again: a page can have fewer tasks than `pageSize`, or none. */
  readonly state?: State | undefined
  /** 1 to 100. */
  readonly pageSize?: number | undefined
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  readonly includeArtifacts?: boolean | undefined
}

export interface Client {
  /** The address of the interface. */
  readonly url: string
  readonly version: Version
  readonly binding: Binding

  /** The card is fetched at the first call, then cached. */
  card(options?: CallSignal): Promise<AgentCard>
  /** The capabilities on the card. */
  capabilities(options?: CallSignal): Promise<Capabilities>

  /** Resolves when the task ends, waits for input or is paused, or earlier with `returnImmediately`. */
  send(content: Content, options?: SendOptions): Promise<SendResult>
  /**
   * The frames of a new or continued task until it ends or waits for input. When the connection breaks after the first
   * frame, the client watches the task from there.
   */
  stream(content: Content, options?: SendOptions): AsyncGenerator<TaskFrame, void>
  get(
    taskId: string,
    options?: CallSignal & { readonly historyLength?: number | undefined },
  ): Promise<Task>
  list(filter?: ListFilter, options?: CallSignal): Promise<TaskPage>
  cancel(
    taskId: string,
    options?: CallSignal & { readonly metadata?: JsonObject | undefined },
  ): Promise<Task>

  /** Every frame of the task until it has ended, across broken connections and restarts of the server. */
  watch(taskId: string, options?: WatchOptions): AsyncGenerator<TaskFrame, void>
  /** Resolves when the task is in the wanted state. Rejects with `TASK_TERMINAL` when it ends in another one. */
  waitFor(
    taskId: string,
    wanted: State | ((task: Task) => boolean),
    options?: WatchOptions,
  ): Promise<Task>

  pause(
    taskId: string,
    options?: PauseInput & CallSignal & { readonly fallback?: PauseFallback | undefined },
  ): Promise<PauseOutcome>
  resume(taskId: string, options?: ResumeInput & CallSignal): Promise<ResumeResult>
  /** For workers: parks the task in the agent's name until a condition fires. */
  awaitResumption(
    taskId: string,
    park: ParkInput,
    options?: CallSignal,
  ): Promise<PausedOutcome | PausingOutcome>

  remind(
    taskId: string,
    reminder: string | ReminderInput,
    options?: CallSignal & {
      readonly fallback?: ReminderFallback | undefined
      readonly metadata?: JsonObject | undefined
    },
  ): Promise<RemindOutcome>
  /** The pending reminders. */
  reminders(taskId: string, options?: CallSignal): Promise<readonly PendingReminder[]>
  /** The signed receipts of the task, each with the result of the server's check. */
  receipts(taskId: string, options?: CallSignal): Promise<ReceiptReport>
  /** Clears pending reminders. @returns how many were cleared */
  clearReminders(
    taskId: string,
    which?: ReminderSelection,
    options?: CallSignal,
  ): Promise<{ readonly clearedCount: number }>

  /** Answers the question of the task: input and authorisation with content, consent with a decision. */
  answer(
    taskId: string,
    answer: Content | ConsentAnswer,
    options?: SendOptions,
  ): Promise<SendResult>
}
