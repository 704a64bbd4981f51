/**
 * Commands to a task. A command contains everything that `decide` needs, also ids and instants, so that deciding is
 * pure. A command of a run contains the run's token. A command with the token of another run is refused as stale.
 */

import type { Message } from './messages/message.ts'
import type { TranscriptEntry } from './messages/transcript.ts'
import type {
  Decision,
  DecisionContent,
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
import type {
  Actor,
  EndedChild,
  NewOperation,
  PauseMode,
  PolicyReason,
  Suspension,
} from './suspension.ts'
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
  /** The most reminders that may be pending. */
  readonly limit?: number
}

/** The facts about a caller that `requireConsent({by})` can ask for. */
export interface Decider {
  readonly principal: string
  readonly isStarter: boolean
  readonly scopes: readonly string[]
}

/** Commands from outside the run: from callers, operators, timers and events. */
export type OuterCommand =
  /** With `rejection`, the agent's `receive` rejected the message. */
  | {
      readonly type: 'submit'
      readonly submission: Submission
      readonly run?: RunToken | undefined
      /** The holds that cover the new task, in this and in the following commands. */
      readonly holds: readonly HoldMark[]
      readonly rejection?: Message | undefined
    }
  /** Creates a task with the past of another. The new task is paused. */
  | {
      readonly type: 'fork'
      /**
       * The records of the other task that become the past of the new one, beginning with the
       * first.
       */
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
      /** The handle of the stop that the holds cause. */
      readonly handle: string
      readonly holds: readonly HoldMark[]
    }
  /**
   * A process takes a task that no process runs. `from` is the token of the previous run, whose
   * process is gone. If the task has another run by now, the command does nothing.
   */
  | {
      readonly type: 'start'
      readonly run: RunToken
      readonly from?: RunToken | undefined
      readonly maxDeaths: number
      /**
       * How the process of the previous run died, if known: `blocked` when the code of this task
       * blocked its event loop, `beside` when the code of another task did. Absent: the death
       * counts for this task, as for every task of the process.
       */
      readonly death?: 'blocked' | 'beside' | undefined
      readonly handle: string
    }
  /** A message to the task. It answers the task's question, or it is queued for the next turn. */
  | {
      readonly type: 'message'
      readonly message: Message
      /**
       * The message id is an idempotency key: the command does nothing if the task already has this
       * message.
       */
      readonly once?: boolean
      /** Who sent it. */
      readonly actor: Actor
      /** Set when the sender may only answer: a message that answers no question is refused. */
      readonly onlyAnswer?: boolean
      /** Absent for no limit. */
      readonly limits?: MessageLimits
      /** The idempotency key that the sender chose. It is kept in the record. */
      readonly idempotencyKey?: string
      readonly consentId?: string
      readonly decision?: Decision
      readonly content?: DecisionContent
      /** Who decides. A consent may ask for somebody else. */
      readonly decider?: Decider
      /** Set when the message is not a valid answer to the open question, which then stays open. */
      readonly wrong?: { readonly path: string; readonly problem: string }
      readonly run?: RunToken
    }
  | {
      readonly type: 'pause'
      readonly handle: string
      readonly actor: Actor
      /** The protocol by which the request came. */
      readonly origin?: string
      readonly mode: PauseMode
      readonly reason?: string
      readonly conditions?: ResumeConditions
      readonly fireAt?: number
      readonly eventsAfter: number
      /** No agent code runs and none can start, so the pause commits with its request. */
      readonly atBoundary: boolean
      /** Set by Bindu and ACP: a task that asks a question (`input-required`) can be paused. */
      readonly evenInputRequired?: boolean
      /**
       * Set by Bindu: pausing a paused task is refused. Otherwise the call returns the existing
       * pause.
       */
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
      /** Events up to this position were removed from the store. */
      readonly removedUpTo?: number
      readonly run?: RunToken
    }
  /** A child has ended. If the task does not wait for it, nothing is written. */
  | { readonly type: 'child-end'; readonly child: EndedChild; readonly run?: RunToken }
  /**
   * An instant of the task has come: its deadline, the next time of its schedule, the instant of
   * its trigger, or the expiry of its question.
   */
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
  /** The engine stops the task by itself (a policy stop). */
  | {
      readonly type: 'policy-pause'
      readonly handle: string
      readonly reason: PolicyReason
      readonly summary: string
      readonly atBoundary: boolean
      /** The token of the run that asks for the stop. */
      readonly run?: string
      /**
       * The token of the run whose process is gone. If the task has another run by now, the command
       * does nothing.
       */
      readonly from?: RunToken | undefined
      readonly mismatch?: string
      readonly newOperations?: readonly NewOperation[]
    }
  /**
   * A budget is used up. The task stops at its next boundary, unless a stop is already under way.
   */
  | {
      readonly type: 'budget-pause'
      readonly handle: string
      readonly budgetId: string
      /** Text that names the budget and its figures. */
      readonly reason: string
      readonly conditions?: ResumeConditions
      readonly fireAt?: number
      readonly atBoundary: boolean
    }

/** Commands from the run that has the task. */
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
      /** The model usage of making the digest. */
      readonly usage?: JournalRecord & { readonly type: 'usage' }
    } & Providing)
  | ({
      readonly type: 'show-reminders'
      readonly run: string
      readonly key: string
      readonly turn: number
      readonly ids: readonly string[]
      /** The handle of the wake that was passed to the reminder providers with this read. */
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
      readonly children?: readonly string[]
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
  /**
   * The run has nothing to do but wait for children. Its code has survived, so earlier deaths of
   * processes are no longer counted.
   */
  | { readonly type: 'wait'; readonly run: string }
  | {
      readonly type: 'release'
      readonly run: string
      readonly reason: string
      /** Set when the process stops while operations are in flight. */
      readonly inFlight?: true
    }

/** Limits on the number and the bytes of a task's messages. */
export interface MessageLimits {
  /** Messages in the history. */
  readonly historyMessages: number
  readonly historyBytes: number
  /** Messages of the history that wait for the next turn. */
  readonly queuedMessages: number
  readonly queuedBytes: number
}

export type Command = OuterCommand | RunCommand
export type CommandType = Command['type']
