/**
 * What can be asked of a task. A command carries everything `decide` needs, ids and instants included, so that deciding
 * is pure. Commands of a run carry its token; one from a run that lost its task is refused as stale.
 */
import type { CloudEvent } from './cloud-event.ts'
import type { ResumeConditions } from './conditions.ts'
import type { Json } from './json.ts'
import type { Message } from './message.ts'
import type { Decision, Failure, JournalRecord, Question, RunToken, Submission } from './records.ts'
import type { ProvidedReminder, Reminder } from './reminders.ts'
import type { Actor, NewOperation, PauseMode, PolicyReason, SpanLinks } from './suspension.ts'
import type { TranscriptEntry } from './transcript.ts'

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

/** What the providers of the agent want the task to be reminded of, now that this happens. */
export interface Providing {
  readonly provided?: readonly ProvidedReminder[]
  /** How many reminders may be pending. */
  readonly limit?: number
}

/** From outside: callers, operators, timers, events. */
export type OuterCommand =
  /** `rejection`: the agent declined before it began. */
  | {
      readonly type: 'submit'
      readonly submission: Submission
      readonly run?: RunToken | undefined
      readonly holds?: readonly HoldMark[]
      readonly rejection?: Message | undefined
    }
  /**
   * A process takes a task that nobody runs. `from`: the run it is taken from, whose process is gone. Where the task has
   * another run than that, nothing happens.
   */
  | {
      readonly type: 'start'
      readonly run: RunToken
      readonly from?: RunToken | undefined
      readonly maxDeaths: number
      readonly handle: string
    }
  /** A message to the task: an answer where it asked something, queued for the next turn otherwise. */
  | {
      readonly type: 'message'
      readonly message: Message
      /** The message id is a key: a task that has it already is not told again. */
      readonly once?: boolean
      /** How much of it a task takes; absent: anything. */
      readonly limits?: MessageLimits
      /** The key the sender chose; kept in the record. */
      readonly idempotencyKey?: string
      readonly consentId?: string
      readonly decision?: Decision
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
      readonly links?: SpanLinks
      /** No agent code runs and none can start: the pause commits with its request. */
      readonly atBoundary: boolean
      /** The Bindu dialect: `input-required` may be paused too. */
      readonly evenInputRequired?: boolean
      /** The Bindu dialect: pausing what is paused already is refused instead of repeated. */
      readonly refuseRepeat?: boolean
      /** A worker outside the process parks its own task: the stop is the agent's. */
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
  /** An event that may wake the task; refused silently (no records) when it does not. */
  | {
      readonly type: 'event'
      readonly event: CloudEvent
      readonly pos: number
      /** Events up to this position are gone from the store. */
      readonly removedUpTo?: number
      readonly run?: RunToken
    }
  /** The clock reached something the task waits for: deadline, schedule, instant, expiry of a question. */
  | { readonly type: 'due'; readonly run?: RunToken; readonly messageId: string }
  | { readonly type: 'cancel'; readonly actor: Actor; readonly reason?: string }
  | {
      readonly type: 'hold'
      readonly hold: HoldMark
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
  /** The engine stops the task itself. */
  | {
      readonly type: 'policy-pause'
      readonly handle: string
      readonly reason: PolicyReason
      readonly summary: string
      readonly atBoundary: boolean
      /** The run that asks for it. */
      readonly run?: string
      /** The run whose process is gone. Where the task has another run, nothing happens. */
      readonly from?: RunToken | undefined
      readonly mismatch?: string
      readonly newOperations?: readonly NewOperation[]
    }

/** From the run that holds the task. */
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
    } & Providing)
  | ({
      readonly type: 'show-reminders'
      readonly run: string
      readonly key: string
      readonly turn: number
      readonly ids: readonly string[]
      /** The handle of the wake that the providers were told of with this read. */
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
      readonly fireAt?: number
      readonly eventsNow: number
      readonly links?: SpanLinks
    }
  | {
      readonly type: 'ask'
      readonly run: string
      readonly key: string
      readonly fingerprint: string
      readonly question: Question
    }
  /** The run reached the boundary an accepted pause was waiting for. */
  | {
      readonly type: 'commit-pause'
      readonly run: string
      /** The pause that is meant: one that was withdrawn meanwhile commits no other. */
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
      /** What it ends with. */
      readonly artifact?: JournalRecord & { readonly type: 'artifact' }
    }
  | {
      readonly type: 'fail'
      readonly run: string
      readonly message: Message
      readonly failure: Failure
    }
  | { readonly type: 'reject'; readonly run: string; readonly message: Message }
  | {
      readonly type: 'release'
      readonly run: string
      readonly reason: string
      /** Operations are in flight: the process stops without them. */
      readonly inFlight?: true
    }

/** How many messages, and bytes of them, one task takes. */
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
