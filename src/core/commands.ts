/**
 * Commands to a task. A command contains everything that `decide` needs, also ids and instants, so that deciding is
 * pure. A command of a run contains the run's token. A command with the token of another run is refused as stale.
 */

import type { Message } from './messages/message.ts'
import type { TranscriptEntry } from './messages/transcript.ts'
import type {
  Decision,
  Failure,
  Forking,
  JournalRecord,
  LogRecord,
  Question,
  RecordBody,
  RunToken,
  Submission,
} from './records.ts'
import type { ProvidedReminder, Reminder } from './reminders/reminders.ts'
import type { Actor, NewOperation, PauseMode, PolicyReason, Suspension } from './suspension.ts'
import type { Json, JsonObject } from './values/json.ts'
import type { CloudEvent } from './waiting/cloud-event.ts'
import type { ResumeConditions } from './waiting/conditions.ts'

export interface HoldMark {
  readonly holdId: string
  readonly reason: string
  readonly actor: Actor
}

export interface ReminderFilter {
  readonly id?: string
  readonly tag?: string
  readonly dedupeKey?: string
}

/** The reminders that the providers of the agent add with this command. */
export interface Providing {
  readonly provided?: readonly ProvidedReminder[]
  /** How many reminders may be pending. */
  readonly limit?: number
}

/** From outside: callers, operators, timers, events. */
export type OuterCommand =
  /** With `rejection`, the agent's `receive` rejected the message. */
  | {
      readonly type: 'submit'
      readonly submission: Submission
      readonly run?: RunToken | undefined
      /** The holds that it is created under, here and below. */
      readonly holds: readonly HoldMark[]
      readonly rejection?: Message | undefined
    }
  /** Creates a task with the past of another. The new task is paused. */
  | {
      readonly type: 'fork'
      /** The records that it shares with the other task, from the first one on. */
      readonly past: readonly LogRecord[]
      readonly forked: Forking
      readonly stop: Pick<Suspension, 'handle' | 'actor' | 'reason'>
      readonly holds: readonly HoldMark[]
    }
  /** Creates a task with a log that was written in another store. */
  | {
      readonly type: 'import'
      readonly log: readonly LogRecord[]
      readonly imported: RecordBody & { readonly type: 'imported' }
      /** Of the stop that the holds make. */
      readonly handle: string
      readonly holds: readonly HoldMark[]
    }
  /**
   * A process takes a task that no process runs. `from`: the run it is taken from, whose process is gone. Where the task has
   * another run than that, nothing happens.
   */
  | {
      readonly type: 'start'
      readonly run: RunToken
      readonly from?: RunToken | undefined
      readonly maxDeaths: number
      /**
       * What is known of the death of that process: the code of this task blocked its event loop, or that of another
       * task did. Absent: the death counts, for this task as for every other one of the process.
       */
      readonly death?: 'blocked' | 'beside' | undefined
      readonly handle: string
    }
  /** A message to the task. It answers the task's question, or it is queued for the next turn. */
  | {
      readonly type: 'message'
      readonly message: Message
      /** The message id is an idempotency key: a task that has this message ignores the repeat. */
      readonly once?: boolean
      /** Absent for no limit. */
      readonly limits?: MessageLimits
      /** The idempotency key that the sender chose. It is kept in the record. */
      readonly idempotencyKey?: string
      readonly consentId?: string
      readonly decision?: Decision
      /** Why the message is no answer to the open question. The question then stays open. */
      readonly wrong?: { readonly path: string; readonly problem: string }
      readonly run?: RunToken
    }
  | {
      readonly type: 'pause'
      readonly handle: string
      readonly actor: Actor
      /** The protocol it came by. */
      readonly origin?: string
      readonly mode: PauseMode
      readonly reason?: string
      readonly conditions?: ResumeConditions
      readonly fireAt?: number
      readonly eventsAfter: number
      /** No agent code runs and none can start, so the pause commits with its request. */
      readonly atBoundary: boolean
      /** The Bindu dialect: `input-required` may be paused too. */
      readonly evenInputRequired?: boolean
      /** The Bindu dialect: pausing a paused task is refused. Otherwise it repeats the first answer. */
      readonly refuseRepeat?: boolean
      /** A worker outside of the process parks its own task. The agent is the initiator of the stop. */
      readonly parks?: { readonly summary?: string }
    }
  | {
      readonly type: 'resume'
      readonly actor: Actor
      readonly cause: 'explicit_resume' | 'external_event'
      readonly handle?: string
      readonly requireHandle?: boolean
      readonly input: Json
      readonly continueTranscript: boolean
      readonly run?: RunToken
      readonly idempotencyKey?: string
    }
  /** An event that may wake the task. If it does not, nothing is written. */
  | {
      readonly type: 'event'
      readonly event: CloudEvent
      readonly pos: number
      /** Events up to this position are gone from the store. */
      readonly removedUpTo?: number
      readonly run?: RunToken
    }
  /** An instant of the task has come: a deadline, a schedule, an instant, or the expiry of a question. */
  | { readonly type: 'due'; readonly run?: RunToken; readonly messageId: string }
  | { readonly type: 'cancel'; readonly actor: Actor; readonly reason?: string }
  | {
      readonly type: 'hold'
      readonly hold: HoldMark
      /** Default `interrupt_immediate`. */
      readonly mode?: PauseMode
      readonly handle: string
      readonly atBoundary: boolean
    }
  | {
      readonly type: 'lift'
      readonly holdId: string
      readonly actor: Actor
      readonly run?: RunToken
    }
  | { readonly type: 'remind'; readonly reminder: Reminder; readonly limit: number }
  | { readonly type: 'clear-reminders'; readonly filter: ReminderFilter }
  /** A policy stop. */
  | {
      readonly type: 'policy-pause'
      readonly handle: string
      readonly reason: PolicyReason
      readonly summary: string
      readonly atBoundary: boolean
      /** The token of the run that asks for the stop. */
      readonly run?: string
      /** The run whose process is gone. Where the task has another run, nothing happens. */
      readonly from?: RunToken | undefined
      readonly mismatch?: string
      readonly newOperations?: readonly NewOperation[]
    }
  /** A budget is used up. The task stops at its next boundary, unless it is stopping already. */
  | {
      readonly type: 'budget-pause'
      readonly handle: string
      readonly budgetId: string
      /** Names the budget and its figures. */
      readonly reason: string
      readonly conditions?: ResumeConditions
      readonly fireAt?: number
      readonly atBoundary: boolean
    }

/** From the run that has the task. */
export type RunCommand =
  | ({
      readonly type: 'record'
      readonly run: string
      readonly records: readonly JournalRecord[]
    } & Providing)
  | ({
      readonly type: 'start-turn'
      readonly run: string
      readonly key: string
      readonly digest?: string
      /** What the agent used to make the digest. */
      readonly usage?: JournalRecord & { readonly type: 'usage' }
    } & Providing)
  | ({
      readonly type: 'show-reminders'
      readonly run: string
      readonly key: string
      readonly turn: number
      readonly ids: readonly string[]
      /** The handle of the wake that the providers got with this read. */
      readonly toldWake?: string
    } & Providing)
  | {
      readonly type: 'park'
      readonly run: string
      readonly key: string
      readonly fingerprint: string
      readonly handle: string
      readonly reason: string
      readonly summary?: string
      readonly conditions?: ResumeConditions
      readonly inputSchema?: JsonObject
      readonly fireAt?: number
      readonly eventsNow: number
    }
  | {
      readonly type: 'ask'
      readonly run: string
      readonly key: string
      readonly fingerprint: string
      readonly question: Question
    }
  /** The run reached the boundary that an accepted pause waited for. */
  | {
      readonly type: 'commit-pause'
      readonly run: string
      /** The handle of the pause. If it was withdrawn meanwhile, no other pause is committed. */
      readonly handle?: string
      readonly fireAt?: number
    }
  | {
      readonly type: 'continue-as'
      readonly run: string
      readonly key: string
      readonly state: Json
      readonly transcript: readonly TranscriptEntry[]
    }
  | {
      readonly type: 'complete'
      readonly run: string
      readonly message?: Message
      /** The artifact that the run returned. */
      readonly artifact?: JournalRecord & { readonly type: 'artifact' }
    }
  | {
      readonly type: 'fail'
      readonly run: string
      readonly message: Message
      readonly failure: Failure
    }
  | { readonly type: 'reject'; readonly run: string; readonly message: Message }
  /** The run only waits for children. What it ran did not end its process, so deaths before are not counted any more. */
  | { readonly type: 'wait'; readonly run: string }
  | {
      readonly type: 'release'
      readonly run: string
      readonly reason: string
      /** Set when the process stops while operations are in flight. */
      readonly inFlight?: true
    }

/** How many messages, and bytes of messages, a task may have. */
export interface MessageLimits {
  /** In its history. */
  readonly historyMessages: number
  readonly historyBytes: number
  /** Of these, waiting for its next turn. */
  readonly queuedMessages: number
  readonly queuedBytes: number
}

export type Command = OuterCommand | RunCommand
export type CommandType = Command['type']
