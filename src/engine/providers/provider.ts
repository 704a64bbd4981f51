/**
 * Providers: small functions that watch a task and remind it. One is asked at every moment of a run; what it wants is
 * written in the same commit as the moment itself, so that a crash can neither lose it nor repeat it.
 */
import type { JournalRecord } from '../../core/records.ts'
import type { Wake } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { ReminderRequest } from '../requests.ts'

/** A turn is about to start: what a provider wants now, that turn sees from its beginning. */
export interface TurnStart {
  readonly type: 'turn-starting'
  readonly turn: number
  /** For how long nothing of the task was recorded. */
  readonly idleMs: number
  /** The stop it comes back from, if there was one since the turn before. */
  readonly wake?: Wake
  /** What stands in place of the transcript, after a resume that asked for it. */
  readonly digest?: string
}

/** What a provider sees: a turn that starts, or something the run records: a step or tool, usage, the end of a turn… */
export type ProviderInput = TurnStart | JournalRecord

/**
 * What the task should be reminded of at this moment, if anything. It is called while the run writes, so it must be quick
 * and cannot wait for anything; what it throws is logged and otherwise ignored.
 *
 * @param task as it stood before this moment
 */
export type ReminderProvider = (
  moment: ProviderInput,
  task: Task,
) => ReminderRequest | readonly ReminderRequest[] | undefined | false

/** By name. False: off; true: the built-in one of that name, as it is by default; a function: yours. */
export type ReminderProviders = Readonly<Record<string, ReminderProvider | boolean>>

/** What of an agent is about reminders. */
export interface RemindedAgent {
  readonly reminders?: boolean
  readonly providers?: ReminderProviders
}
