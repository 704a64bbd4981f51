/** Types of values inside records. */

import type { Artifact, Message } from '../messages/message.ts'
import type { Choice } from '../messages/question-part.ts'
import type { InterruptedState, TerminalState } from '../states.ts'
import type { Actor, EndedChild, ResumeCause, TimeoutEvent } from '../suspension.ts'
import type { Json, JsonObject } from '../values/json.ts'
import type { CloudEvent } from '../waiting/cloud-event.ts'

/** The run that has a task. Writes with another token are refused. `worker` names the process. */
export interface RunToken {
  readonly token: string
  readonly worker: string
}

/** A journaled error, which can be thrown again. Callers never see its stack. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack?: string
  /** Set for errors that have a code, such as those of Lull and of Node. */
  readonly code?: string
  readonly details?: Json
}

export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costUsd?: number
}

/** What one model call used. With `contextWindow`, the provider `tokenPressure` can warn before the window is full. */
export interface UsageReport extends Usage {
  /** The size of the model's context window in tokens. */
  readonly contextWindow?: number
}

export interface Question {
  readonly state: InterruptedState
  readonly message: Message
  readonly expiresAt?: number
  /** The answer must be one of these. */
  readonly choices?: readonly Choice[]
  /** The JSON Schema that the answer must match. */
  readonly schema?: JsonObject
  readonly consent?: {
    readonly consentId: string
    /** SHA-256 of the canonical JSON of `operation`. An answer is valid only for this digest. */
    readonly digest: string
    readonly operation: Json
    readonly scope?: Json
    readonly expiresAt?: number
    /** Who may grant it. Absent: everybody who may answer. */
    readonly by?: ConsentBy
    /** The JSON Schema of an operation that is granted in place of this one. Absent: none is. */
    readonly editable?: JsonObject
  }
}

export type Decision = 'granted' | 'denied'

/** Who may grant a consent, of those who may answer: not the starter of the task, a principal, or whoever has a scope. */
export type ConsentBy = 'other' | { readonly principal: string } | { readonly withScope: string }

/** What an answer to a consent question says beside yes or no. */
export interface DecisionContent {
  readonly comment?: string
  /** The operation that was granted in place of the one that was asked for. */
  readonly operation?: Json
}

/** The outcome of a child, as its parent sees it. */
export interface ChildResult {
  readonly taskId: string
  readonly state: TerminalState
  readonly message?: Message
  readonly artifacts: readonly Artifact[]
}

/**
 * An action that arrived while a hold covered the task. It takes effect when the hold is lifted.
 */
export type DeferredAction =
  | {
      readonly kind: 'wake'
      readonly cause: ResumeCause
      readonly input: Json
      readonly event?: CloudEvent | TimeoutEvent
      readonly child?: EndedChild
      readonly eventPos?: number
      readonly eventsRemovedUpTo?: number
      readonly continueTranscript: boolean
    }
  | {
      readonly kind: 'answer'
      readonly message: Message
      /** Absent in old logs. */
      readonly actor?: Actor
      readonly decision?: Decision
      readonly content?: DecisionContent
    }
  | { readonly kind: 'failure'; readonly message: Message; readonly failure: Failure }
