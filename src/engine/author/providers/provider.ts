/**
 * Providers: functions of an agent that add reminders to its tasks. Each provider is called when a turn starts and for
 * each journal record. Its reminders are written in the same commit, so a crash can neither lose nor repeat them.
 */
import type { JournalRecord } from '../../../core/records.ts'
import type { Wake } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import type { ReminderRequest } from '../../input/requests.ts'

/** A turn is about to start. It sees the reminders that providers return now. */
export interface TurnStart {
  readonly type: 'turn-starting'
  readonly turn: number
  /** The time since the last record of the task. */
  readonly idleMs: number
  /** The end of the last stop, if there was one since the previous turn. */
  readonly wake?: Wake
  /** The text that replaces the transcript after a resume with `continueTranscript: false`. */
  readonly digest?: string
}

/**
 * What a provider is called with: the start of a turn, or a record of the run such as a step, usage or the end of a
 * turn.
 */
export type ProviderInput = TurnStart | JournalRecord

/**
 * Returns reminders for the task, or nothing. It is called synchronously while the run writes, so it must be quick and
 * must not return a promise. An error that it throws is logged and otherwise ignored.
 *
 * @param task the task before the turn or record
 */
export type ReminderProvider = (
  input: ProviderInput,
  task: Task,
) => ReminderRequest | readonly ReminderRequest[] | undefined | false

/** Providers by name. A function is the agent's own provider. False switches a built-in one off, true leaves it on. */
export type ReminderProviders = Readonly<Record<string, ReminderProvider | boolean>>

/** The members of an agent that concern reminders. */
export interface RemindedAgent {
  readonly reminders?: boolean
  readonly providers?: ReminderProviders
}
