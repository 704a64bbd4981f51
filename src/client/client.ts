/** The client of one agent. Every operation is a method, and its type says how it can fail. */
import type { JsonObject } from '../core/json.ts'
import type { State } from '../core/states.ts'
import type { ReceiptReport } from '../wire/ops/logs.ts'
import type { Capabilities } from './capabilities.ts'
import type { AgentCard } from './card.ts'
import type {
  ParkInput,
  PausedOutcome,
  PauseFallback,
  PauseInput,
  PauseOutcome,
  PausingOutcome,
  ResumeInput,
  ResumeResult,
} from './control-shapes.ts'
import type {
  ReminderFallback,
  ReminderInput,
  ReminderSelection,
  RemindOutcome,
} from './reminder-shapes.ts'
import type { Content, MessageTarget } from './tasks/message-content.ts'
import type { PendingReminder, SendResult, Task, TaskFrame, TaskPage } from './tasks/task-types.ts'
import type { WatchOptions } from './tasks/watch.ts'
import type { Binding, Version } from './version.ts'

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
  /** On peers with idempotency keys, the same key and message give the same task. A UUID as `messageId` does too. */
  readonly idempotencyKey?: string | undefined
}

export interface ListFilter {
  readonly contextId?: string | undefined
  /** The client filters states that the wire cannot tell apart, so a page can have fewer tasks than asked for, or none. */
  readonly state?: State | undefined
  /** 1 to 100. */
  readonly pageSize?: number | undefined
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  readonly includeArtifacts?: boolean | undefined
}

/** The decision about a consent. `consentId` defaults to the id on the task. */
export interface ConsentAnswer {
  readonly consent: 'granted' | 'denied'
  readonly consentId?: string
}

export interface Client {
  /** The address of the interface. */
  readonly url: string
  readonly version: Version
  readonly binding: Binding

  /** Read when it is first needed, then kept. */
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
  /** The signed receipts of the task, each with what the check of the server has shown. */
  receipts(taskId: string, options?: CallSignal): Promise<ReceiptReport>
  /** How many were cleared. */
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
