/** The interface of the engine for a run. */

import type { Part } from '../../core/messages/message.ts'
import type { ChildResult, JournalRecord, LogRecord } from '../../core/records.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Json } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { ReminderRequest } from '../input/requests.ts'
import type { Committed, LazyCommand } from '../ledger/ledger.ts'
import type { LiveTexts } from '../streams/live-texts.ts'

export interface RunLimits {
  /** The largest JSON text of a step's result. */
  readonly stepResultBytes: number
  /** The largest number of records in a journal. Above it the task is stopped, with the advice to call `continueAs`. */
  readonly journalRecords: number
  /** The same in bytes. */
  readonly journalBytes: number
  /** Reminders that may be pending on one task. */
  readonly pendingReminders: number
  /** How long a function that was told to stop counts as in flight, if its step does not say. */
  readonly abandonAfterMs: number
  /** Synchronous agent code that takes longer than this is reported, because it blocks the process. */
  readonly blockMs: number
}

export interface RunHost {
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly tracing: Tracing
  readonly limits: RunLimits
  /** Texts that steps have written and that are not recorded yet. */
  readonly live: LiveTexts
  commit(taskId: string, command: LazyCommand): Promise<Committed>
  /** The log of a task, oldest first. */
  records(task: Pick<Task, 'tenant' | 'id'>): AsyncIterable<LogRecord>
  /** When the schedule or instant of the conditions fires next. @throws LullError `INVALID_INPUT` */
  fireAt(conditions: ResumeConditions | undefined): number | undefined
  /** The position of the newest event. */
  eventsNow(tenant: string): Promise<number>
  /** The position of the newest event that this process knows. Lower than before when the store has lost events. */
  lastEventPos(tenant: string): number
  /** Frees the slot of a run that only waits for children. Such a run may be evicted from memory. False: it keeps its slot. */
  releaseSlot(taskId: string): boolean
  /** For a run that can go on. Resolves when it has a slot again, or was stopped. */
  reacquireSlot(taskId: string): Promise<void>
  blocked(agent: string, taskId: string, ms: number): void
  /**
   * Notes which task's code runs on the event loop from now on. Undefined: none.
   * @returns the task that was noted before
   */
  running(taskId: string | undefined): string | undefined
  /**
   * Asked before a function of the author runs that may have effects: each attempt of a step, `digest` and `compact`.
   * Resolves when the function may run. Undefined: it may run now.
   */
  mayExecute(key: string): Promise<void> | undefined
  /** Stops the task if a budget is used up. Undefined when no budget covers it. */
  checkBudgets(task: Task): Promise<void> | undefined
  readonly children: ChildHost
}

/** A child as the log of its parent has it. */
export type Delegation = Pick<
  JournalRecord & { readonly type: 'delegated' },
  'childId' | 'agent' | 'message' | 'input'
>

/** Operations of a parent's run on its children. */
export interface ChildHost {
  /**
   * The message as the agent's schema reads it; undefined without a schema.
   * @throws LullError `AGENT_UNKNOWN`, or `INVALID_INPUT` for a message that the schema refuses
   */
  check(agent: string, parts: readonly Part[]): Promise<Json> | Json | undefined
  /**
   * @param count how many children the parent has
   * @throws LullError `LIMIT_EXCEEDED` when the parent may not have another one
   */
  admit(parent: Task, count: number): void
  create(parent: Task, delegation: Delegation): Promise<void>
  /** @throws LullError `TASK_NOT_FOUND` for a task that is no child of the parent */
  get(parent: Task, childId: string): Promise<Task>
  /** Resolves when the child is in this store. It may still have to be imported. Rejects when the signal fires. */
  arrived(parent: Task, childId: string, signal: AbortSignal): Promise<void>
  /** Ends when the signal fires. */
  watch(parent: Task, childId: string, signal: AbortSignal): AsyncIterable<LogRecord>
  /** The result of the child, if it has ended. @throws LullError `TASK_UNREADABLE` */
  result(parent: Task, childId: string): Promise<ChildResult | undefined>
  /** Resolves when the child has ended. Rejects when the signal fires. @throws LullError `TASK_UNREADABLE` */
  ended(parent: Task, childId: string, signal: AbortSignal): Promise<ChildResult>
  pause(
    parent: Task,
    childId: string,
    options: { reason?: string; mode?: PauseMode },
  ): Promise<void>
  resume(
    parent: Task,
    childId: string,
    options: { input?: Json; continueTranscript?: boolean },
  ): Promise<void>
  cancel(parent: Task, childId: string, reason: string | undefined): Promise<void>
  remind(parent: Task, childId: string, reminder: ReminderRequest): Promise<void>
}
