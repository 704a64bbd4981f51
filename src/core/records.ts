/**
 * The records of a task's log. Everything else (state, journal, streams, receipts) is derived from them, and none is
 * ever changed or removed before its task is. Adding a field is compatible; renaming one is not.
 */
import type { CloudEvent } from './cloud-event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Artifact, Message } from './message.ts'
import type { Receipt } from './receipt.ts'
import type { ExpiryReason, Reminder, TurnOutcome } from './reminders.ts'
import type { InterruptedState, TerminalState } from './states.ts'
import type { Actor, PauseMode, ResumeCause, Suspension, TimeoutEvent } from './suspension.ts'
import type { TranscriptEntry } from './transcript.ts'

/** Who runs a task: the token fences every write of that run, the worker names the process. */
export interface RunToken {
  readonly token: string
  readonly worker: string
}

/** A failure as it is journaled: enough to throw it again, never a stack for callers. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack?: string
  /** Of errors that have one, such as ours and Node's. */
  readonly code?: string
  readonly details?: Json
}

export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costUsd?: number
}

/** What one model call used. With the size of the model's window, the agent is told when that fills up. */
export interface UsageReport extends Usage {
  /** In tokens. */
  readonly contextWindow?: number
}

export interface Question {
  readonly state: InterruptedState
  readonly message: Message
  readonly expiresAt?: number
  readonly consent?: {
    readonly consentId: string
    /** SHA-256 of the canonical JSON of `operation`: the answer is bound to it. */
    readonly digest: string
    readonly operation: Json
    readonly scope?: Json
    readonly expiresAt?: number
  }
}

export type Decision = 'granted' | 'denied'

/** How a child ended, as its parent sees it. */
export interface ChildResult {
  readonly taskId: string
  readonly state: TerminalState
  readonly message?: Message
  readonly artifacts: readonly Artifact[]
}

/** What a task sees of its context: what was there when it was created. */
export interface ContextSnapshot {
  /** The tasks, each with the version at which it is seen. */
  readonly tasks: readonly (readonly [taskId: string, version: number])[]
  /** Stateless messages up to this position. */
  readonly messagesUpTo: number
}

/** What a task is born with. */
export interface Submission {
  readonly taskId: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly message: Message
  readonly parentId?: string | undefined
  /** The protocol that made it, for rules such as "close cancels only tasks born over ACP". */
  readonly origin?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** Events up to here arrived before the task existed. */
  readonly eventsAfter: number
  readonly reminders?: readonly Reminder[] | undefined
  /** Absent when the task begins its context. */
  readonly seen?: ContextSnapshot | undefined
}

/** Operations of a run, each recorded under its key and answered from there when the run is rebuilt. */
export type JournalRecord = {
  /**
   * It is new code in front of operations that were recorded before it: its place in the log is not its place in the code.
   */
  readonly inserted?: true
} & (
  | {
      readonly type: 'step'
      readonly key: string
      readonly name: string
      readonly attempt: number
      readonly result?: Json
      readonly failure?: Failure
      readonly topLevel?: true
    }
  /** An attempt that did not settle the step: interrupted by a pause, or failed and to be retried. */
  | {
      readonly type: 'attempt'
      readonly key: string
      readonly attempt: number
      readonly outcome: 'interrupted' | 'failed'
      readonly failure?: Failure
    }
  | { readonly type: 'skipped'; readonly key: string; readonly name: string }
  | {
      readonly type: 'said'
      readonly key: string
      readonly message?: Message
      readonly progress?: number
    }
  | {
      readonly type: 'artifact'
      readonly key: string
      readonly artifact: Artifact
      readonly append: boolean
      readonly last: boolean
      /** The text of a step's stream, and which attempt wrote it: a reader that saw it live gets only the rest. */
      readonly attempt?: string
    }
  | { readonly type: 'usage'; readonly key: string; readonly usage: UsageReport }
  /** `task.now()`, `task.uuid()`, `task.random()`. */
  | { readonly type: 'value'; readonly key: string; readonly value: Json }
  | {
      readonly type: 'turn-ended'
      readonly key: string
      readonly turn: number
      /** Absent: it completed. */
      readonly outcome?: TurnOutcome
      readonly transcript: readonly TranscriptEntry[]
    }
  | {
      readonly type: 'compacted'
      readonly key: string
      readonly transcript: readonly TranscriptEntry[]
    }
  | {
      readonly type: 'delegated'
      readonly key: string
      readonly childId: string
      readonly agent: string
      readonly message: Message
    }
  | { readonly type: 'child-ended'; readonly key: string; readonly result: ChildResult }
  /** A control call a parent made on a child (`child.pause()` and the like), so that a rebuilt run does not repeat it. */
  | {
      readonly type: 'child-called'
      readonly key: string
      readonly call: string
      readonly result: Json
      readonly failure?: Failure
    }
)

export type RecordBody =
  | JournalRecord
  | ({ readonly type: 'submitted' } & Submission)
  /** A run took the task. `deaths` counts processes that died on it without a new record. */
  | { readonly type: 'started'; readonly run: RunToken; readonly deaths: number }
  /** A stopping process gave the task back; the next one goes on. */
  | { readonly type: 'released'; readonly reason: string; readonly inFlight?: true }
  /** `idempotencyKey`, here and below: the key the sender chose. A repeat of the key is found by it. */
  | { readonly type: 'message'; readonly message: Message; readonly idempotencyKey?: string }
  /** What the turn sees is fixed here, so that a rebuilt run sees the same. */
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
      /** The handle of the wake that the providers were told of with this read. */
      readonly toldWake?: string
    }
  | {
      readonly type: 'asked'
      readonly key: string
      readonly fingerprint: string
      readonly question: Question
    }
  /** A consent question answered in words nobody could decide on: it stands. */
  | { readonly type: 'asked-again'; readonly answer: Message; readonly idempotencyKey?: string }
  | {
      readonly type: 'answered'
      readonly message: Message
      readonly decision?: Decision
      readonly run?: RunToken
      readonly idempotencyKey?: string
    }
  /** `quiesces`: something is in flight, and the commit comes later. */
  | { readonly type: 'pause-requested'; readonly suspension: Suspension; readonly quiesces?: true }
  | { readonly type: 'pause-upgraded'; readonly mode: PauseMode }
  /** A hold stopped it; now somebody wants it paused as well. */
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
      /** What came with the resume: the code sees it as its wake. */
      readonly input?: Json
      readonly idempotencyKey?: string
    }
  | {
      readonly type: 'paused'
      readonly handle: string
      readonly deadlineAt?: number
      readonly fireAt?: number
      /** The process of its run had died: operations may have been in flight. */
      readonly inFlight?: true
    }
  | { readonly type: 'parked'; readonly fingerprint: string; readonly suspension: Suspension }
  | {
      readonly type: 'resumed'
      readonly handle: string
      readonly cause: ResumeCause
      readonly actor?: Actor
      /** The redactable copy; the receipt holds its hash. */
      readonly input: Json
      readonly event?: CloudEvent | TimeoutEvent
      /** The position of the event, consumed with this wake. */
      readonly eventPos?: number
      /** Events up to this position are gone from the store: nobody has to remember that they were consumed. */
      readonly eventsRemovedUpTo?: number
      readonly continueTranscript: boolean
      readonly run?: RunToken
      readonly idempotencyKey?: string
    }
  /** Arrived under a hold: acts when the hold is lifted. */
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
  /** The journal before this is closed; the next run starts from `state`. */
  | {
      readonly type: 'continued'
      readonly key: string
      readonly state: Json
      readonly transcript: readonly TranscriptEntry[]
    }
  /** An operator accepted changed code: this entry is run anew. */
  | {
      readonly type: 'voided'
      readonly key: string
      /** The operation was new: this one, recorded behind it, is not missed any more. */
      readonly unclaimed?: string
    }
  | {
      readonly type: 'reminder-injected'
      readonly reminder: Reminder
      /** Absent: it displaced none. */
      readonly dedupedCount?: number
      /** The provider of the agent that wanted it; absent for what came from outside. */
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

/** What arrived for a held task: a condition that fired, or an answer. */
export type DeferredAction =
  | {
      readonly kind: 'wake'
      readonly cause: ResumeCause
      readonly input: Json
      readonly event?: CloudEvent | TimeoutEvent
      readonly eventPos?: number
      readonly eventsRemovedUpTo?: number
      readonly continueTranscript: boolean
    }
  | { readonly kind: 'answer'; readonly message: Message; readonly decision?: Decision }
  | { readonly kind: 'failure'; readonly message: Message; readonly failure: Failure }

export type RecordType = RecordBody['type']

/** A record in its place: the nth of its task, written at that instant. */
export type LogRecord = RecordBody & { readonly seq: number; readonly at: number }
