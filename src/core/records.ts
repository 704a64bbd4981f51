/**
 * The records of a task's log. State, journal, streams and receipts are derived from them. A record is never changed, and
 * it is removed only together with its task. Adding a field is compatible. Renaming a field is not.
 */

import type { Message } from './messages/message.ts'
import type { TranscriptEntry } from './messages/transcript.ts'
import type { PublicKey, Receipt } from './receipts/receipt.ts'
import type { JournalRecord } from './records/journal-record.ts'
import type {
  Decision,
  DecisionContent,
  DeferredAction,
  Failure,
  Question,
  RunToken,
} from './records/record-values.ts'
import type { ExpiryReason, Reminder } from './reminders/reminders.ts'
import type {
  Actor,
  EndedChild,
  PauseMode,
  ResumeCause,
  SpanLinks,
  Suspension,
  TimeoutEvent,
} from './suspension.ts'
import type { Json, JsonObject } from './values/json.ts'
import type { SpanLink } from './values/span-link.ts'
import type { CloudEvent } from './waiting/cloud-event.ts'

export type { JournalRecord } from './records/journal-record.ts'
export type {
  ChildResult,
  ConsentBy,
  Decision,
  DecisionContent,
  DeferredAction,
  Failure,
  Question,
  RunToken,
  Usage,
  UsageReport,
} from './records/record-values.ts'

export type RecordBody =
  | JournalRecord
  | ({ readonly type: 'submitted' } & Submission)
  /**
   * A run took the task. `deaths` counts the processes that died while running it without writing a
   * new record. The record is written again with 0 for the same run when that run only waits for
   * children.
   */
  | { readonly type: 'started'; readonly run: RunToken; readonly deaths: number }
  /** A process that shuts down gave up the task. The next process continues it. */
  | { readonly type: 'released'; readonly reason: string; readonly inFlight?: true }
  /** `idempotencyKey`, here and below, is the key that the sender chose. A repeated request is recognized by it. */
  | { readonly type: 'message'; readonly message: Message; readonly idempotencyKey?: string }
  /** What a turn sees. A rebuilt run sees the same. */
  | {
      readonly type: 'turn-started'
      readonly key: string
      readonly turn: number
      readonly messages: readonly Message[]
      readonly reminders: readonly Reminder[]
      readonly emitted: readonly string[]
      readonly digest?: string
    }
  | {
      readonly type: 'reminders-shown'
      readonly key: string
      readonly turn: number
      readonly reminders: readonly Reminder[]
      readonly emitted: readonly string[]
      /** The handle of the wake that was passed to the reminder providers with this read. */
      readonly toldWake?: string
    }
  | {
      readonly type: 'asked'
      readonly key: string
      readonly fingerprint: string
      readonly question: Question
    }
  /** The answer to a consent question was neither yes nor no. The question stays open. */
  | {
      readonly type: 'asked-again'
      readonly answer: Message
      readonly actor?: Actor
      readonly idempotencyKey?: string
    }
  | {
      readonly type: 'answered'
      readonly message: Message
      /** Absent in old logs, here and above. */
      readonly actor?: Actor
      readonly decision?: Decision
      readonly content?: DecisionContent
      readonly run?: RunToken
      readonly idempotencyKey?: string
      readonly trace?: SpanLink
    }
  /** With `quiesces`, an operation was in flight; the `paused` record follows when it has ended. */
  | { readonly type: 'pause-requested'; readonly suspension: Suspension; readonly quiesces?: true }
  | { readonly type: 'pause-upgraded'; readonly mode: PauseMode }
  /** A task that a hold or budget stopped is now paused by a caller too. Lifting the hold, or a refill, does not resume it. */
  | {
      readonly type: 'pause-kept'
      readonly actor: Actor
      readonly reason?: string
      readonly origin?: string
    }
  | {
      readonly type: 'pause-withdrawn'
      readonly handle: string
      readonly actor: Actor
      readonly cause: ResumeCause
      /** The input of the resume. The agent reads it from its wake. */
      readonly input?: Json
      readonly idempotencyKey?: string
    }
  | {
      readonly type: 'paused'
      readonly handle: string
      readonly deadlineAt?: number
      readonly fireAt?: number
      /** Set when the process of the run died. Operations may have been in flight. */
      readonly inFlight?: true
      readonly links?: SpanLinks
    }
  | { readonly type: 'parked'; readonly fingerprint: string; readonly suspension: Suspension }
  | {
      readonly type: 'resumed'
      readonly handle: string
      readonly cause: ResumeCause
      readonly actor?: Actor
      /** This copy can be redacted, because the receipt contains only its hash. */
      readonly input: Json
      readonly event?: CloudEvent | TimeoutEvent
      /** The child whose end this wake is. */
      readonly child?: EndedChild
      /** The position of the event that this wake consumed. */
      readonly eventPos?: number
      /** Events up to this position are removed from the store, so the task need not remember which of them it consumed. */
      readonly eventsRemovedUpTo?: number
      readonly continueTranscript: boolean
      readonly run?: RunToken
      readonly idempotencyKey?: string
      /** The trace span of the resume. It is the parent of what the task does next. */
      readonly trace?: SpanLink
    }
  /** An action arrived while a hold covered the task. It takes effect when the hold is lifted. */
  | {
      readonly type: 'deferred'
      readonly deferred: DeferredAction
      readonly idempotencyKey?: string
    }
  | {
      readonly type: 'held'
      readonly holdId: string
      readonly reason: string
      readonly actor: Actor
    }
  | { readonly type: 'lifted'; readonly holdId: string; readonly actor: Actor }
  /**
   * Ends the journal so far (`continueAs`). The next run starts from `state` with an empty journal.
   */
  | {
      readonly type: 'continued'
      readonly key: string
      readonly state: Json
      readonly transcript: readonly TranscriptEntry[]
    }
  /** An operator accepted changed code, so the operation with this key is executed again. */
  | {
      readonly type: 'voided'
      readonly key: string
      /**
       * Set when the code called a new operation: the key of the recorded operation after it, which
       * the code is no longer required to call.
       */
      readonly unclaimed?: string
    }
  | {
      readonly type: 'reminder-injected'
      readonly reminder: Reminder
      /** How many pending reminders this one replaced. Absent if none. */
      readonly dedupedCount?: number
      /** The provider that added the reminder. Absent for a reminder from outside. */
      readonly provider?: string
    }
  | {
      readonly type: 'reminder-deduped'
      readonly ids: readonly string[]
      readonly by: string
      readonly dedupeKey: string
    }
  | {
      readonly type: 'reminder-expired'
      readonly ids: readonly string[]
      readonly reason: ExpiryReason
    }
  | { readonly type: 'completed'; readonly message?: Message }
  | { readonly type: 'failed'; readonly message: Message; readonly failure: Failure }
  | { readonly type: 'rejected'; readonly message: Message }
  | { readonly type: 'canceled'; readonly actor: Actor; readonly reason?: string }
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly hash: string }
  /** The records before it were written in another store. */
  | {
      readonly type: 'imported'
      readonly actor: Actor
      readonly exportedAt: number
      /**
       * From the export: the version of Lull, the digest of the records, and the public keys for
       * their receipts.
       */
      readonly lull: string
      readonly digest: string
      readonly keys: readonly PublicKey[]
      /** Events of this store up to this position do not wake the task. */
      readonly eventsAfter: number
      /** The hold that was placed for the import. Absent in old logs. */
      readonly holdId?: string
    }
  /**
   * The records before this one are the past of another task. From this record on the log is that
   * of the new task.
   */
  | ({ readonly type: 'forked' } & Forking)

/** How a task began with the past of another. */
export interface Forking {
  /** The id and the context of the new task. */
  readonly taskId: string
  readonly contextId: string
  /** The id of the task whose past was copied. */
  readonly from: string
  /** The key of the operation at which the fork begins: the first one to run again. */
  readonly step: string
}

export type RecordType = RecordBody['type']

/** A record with its number in the log of its task and the instant at which it was written. */
export type LogRecord = RecordBody & { readonly seq: number; readonly at: number }

/** Which part of a context a task sees: only what existed when the task was created. */
export interface ContextSnapshot {
  /** The tasks that are seen, each at this version. Later records are not seen. */
  readonly tasks: readonly (readonly [taskId: string, version: number])[]
  /** Stateless messages up to this position are seen. */
  readonly messagesUpTo: number
  /** The first of these messages that is seen. Absent: the newest 200 are seen. */
  readonly messagesFrom?: number
}

/** The request that creates a task. */
export interface Submission {
  readonly taskId: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly message: Message
  readonly parentId?: string | undefined
  /** How many parents are above it. Absent for a task without a parent. */
  readonly depth?: number | undefined
  /** The protocol that created the task. Closing an ACP session cancels only tasks that ACP created. */
  readonly origin?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** The message as parsed by the agent's schema. Absent for an agent without a schema. */
  readonly input?: Json | undefined
  /** Events up to this position arrived before the task existed, so they cannot wake it. */
  readonly eventsAfter: number
  readonly reminders?: readonly Reminder[] | undefined
  /** Absent for the first task of a context. */
  readonly seen?: ContextSnapshot | undefined
  /** The trace span of the request that created the task. */
  readonly trace?: SpanLink | undefined
}
