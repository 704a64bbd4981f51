/** The client of one agent: every operation as a function, each with its own way of failing said in the type. */
import type { JsonObject } from '../core/json.ts'
import type { State } from '../core/states.ts'
import type { Capabilities } from './capabilities.ts'
import type { AgentCard } from './card.ts'
import type { Addressed, Content } from './content.ts'
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
import type { WatchOptions } from './follow-task.ts'
import type {
  ReminderFallback,
  ReminderInput,
  ReminderSelection,
  RemindOutcome,
} from './reminder-shapes.ts'
import type { PendingReminder, SendResult, Task, TaskFrame, TaskPage } from './task.ts'
import type { Binding, Version } from './version.ts'

export interface CallSignal {
  /** Gives up the call; what the peer has begun it may still do. */
  readonly signal?: AbortSignal | undefined
}

export interface SendOptions extends Addressed, CallSignal {
  /** Answer as soon as the task exists, instead of when it ends, asks or is paused. */
  readonly returnImmediately?: boolean | undefined
  readonly historyLength?: number | undefined
  readonly acceptedOutputModes?: readonly string[] | undefined
  readonly metadata?: JsonObject | undefined
  /** The same key and message give the same task, on peers that know keys. A `messageId` that is a UUID does too. */
  readonly idempotencyKey?: string | undefined
}

export interface ListFilter {
  readonly contextId?: string | undefined
  /** Told apart here where the wire cannot: a page may then hold fewer tasks than asked for, or none. */
  readonly state?: State | undefined
  /** 1 to 100. */
  readonly pageSize?: number | undefined
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  readonly includeArtifacts?: boolean | undefined
}

/** A decision about the consent that the task asks for; `consentId` defaults to the one the task shows. */
export interface ConsentAnswer {
  readonly consent: 'granted' | 'denied'
  readonly consentId?: string
}

export interface Client {
  /** Of the interface it speaks to. */
  readonly url: string
  readonly version: Version
  readonly binding: Binding

  /** Read once, when it is needed. */
  card(options?: CallSignal): Promise<AgentCard>
  /** What the card says the agent can do. */
  capabilities(options?: CallSignal): Promise<Capabilities>

  /** Waits until the task ends, asks for something or is paused, unless told to `returnImmediately`. */
  send(content: Content, options?: SendOptions): Promise<SendResult>
  /**
   * The frames of a new or continued task until it ends or asks for something. Should the connection break after the first
   * frame, the task is watched from there on.
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
  /** The task, as soon as it is as wanted. Rejects with `TASK_TERMINAL` when it ended otherwise. */
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
  /** For workers: parks the task on the agent's behalf until a condition fires. */
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
  /** Those that are pending. */
  reminders(taskId: string, options?: CallSignal): Promise<readonly PendingReminder[]>
  /** How many were cleared. */
  clearReminders(
    taskId: string,
    which?: ReminderSelection,
    options?: CallSignal,
  ): Promise<{ readonly clearedCount: number }>

  /** Answers what the task asks: input and authorisation with content, consent with a decision. */
  answer(
    taskId: string,
    answer: Content | ConsentAnswer,
    options?: SendOptions,
  ): Promise<SendResult>
}
