/**
 * One stop of a task. The nth stop has epoch n. Each suspension has its own handle, which is valid
 * as soon as the request is accepted, also while the task quiesces.
 */

import type { Message } from './messages/message.ts'
import type { State, TerminalState } from './states.ts'
import type { Json, JsonObject } from './values/json.ts'
import type { SpanLink } from './values/span-link.ts'
import type { CloudEvent } from './waiting/cloud-event.ts'
import type { ResumeConditions } from './waiting/conditions.ts'

export type PauseMode = 'interrupt_immediate' | 'finish_step' | 'wait_for_completion'

const strengths: Readonly<Record<PauseMode, number>> = {
  wait_for_completion: 1,
  finish_step: 2,
  interrupt_immediate: 3,
}

/** The weakest mode comes first. A stronger mode may replace a weaker one until the pause commits. */
export const pauseModes: readonly PauseMode[] = (Object.keys(strengths) as PauseMode[]).sort(
  (a, b) => strengths[a] - strengths[b],
)

export type ActorKind = 'client' | 'agent' | 'operator' | 'policy' | 'parent'

/** Who made a change, for audit, dashboard and receipts. */
export interface Actor {
  readonly kind: ActorKind
  readonly id: string
  /** The id of the credential that was shown. */
  readonly keyId?: string
}

/** Why the engine itself stopped a task. */
export type PolicyReason =
  | 'crash-loop'
  | 'blocked-process'
  | 'agent-unknown'
  | 'journal-limit'
  | 'code-changed'
  | 'child-unreadable'

/** Trace spans of a suspension. The span of the resume links to them. */
export interface SpanLinks {
  /** The span of the suspension itself. */
  readonly span?: SpanLink
  /** The trace span of the task when it stopped. */
  readonly pipelineSpan?: SpanLink
  readonly parentTaskId?: string
}

export interface Suspension {
  readonly handle: string
  readonly epoch: number
  readonly initiator: 'client' | 'agent'
  readonly actor: Actor
  /** The protocol of the pause request, if known. */
  readonly origin?: string
  readonly mode?: PauseMode
  readonly reason?: string
  readonly summary?: string
  readonly conditions?: ResumeConditions
  /**
   * The children that the task waits for. The end of one of them wakes it, like a condition. Only
   * the agent can wait for children, so they are not among the conditions of the protocols.
   */
  readonly children?: readonly string[]
  /** The JSON Schema of the input that a resume must have. */
  readonly inputSchema?: JsonObject
  readonly requestedAt: number
  /** Absent while the task quiesces. */
  readonly pausedAt?: number
  readonly deadlineAt?: number
  /** When the schedule or the instant of the trigger fires. */
  readonly fireAt?: number
  readonly pausedFrom: State
  /** Events up to this position do not wake the task. */
  readonly eventsAfter: number
  readonly links?: SpanLinks
  /** The journal key of the park. Absent for pauses. */
  readonly key?: string
  /** A hold made the stop. Lifting the last hold resumes the task. */
  readonly byHold?: true
  /** A budget made the stop. A refill resumes the task. */
  readonly byBudget?: true
  /**
   * The initial stop of a fork. The request that made the fork resumes it. Absent in forks made by
   * older versions.
   */
  readonly byFork?: true
  /**
   * The names of steps that were told to stop and did not. They may still act while the task is
   * paused.
   */
  readonly mayStillAct?: readonly string[]
  /**
   * For `code-changed`: the key of the journal entry whose fingerprint differs. Resuming accepts
   * the new code there.
   */
  readonly mismatch?: string
  /**
   * For `code-changed`: operations of the new code that have no journal entry. Resuming lets each
   * of them run once.
   */
  readonly newOperations?: readonly NewOperation[]
}

/**
 * An operation that is not in the journal, although a later one is that the code has not called
 * yet.
 */
export interface NewOperation {
  readonly key: string
  readonly unclaimed: string
}

export type ResumeCause = 'explicit_resume' | 'condition_fired' | 'timeout' | 'external_event'

export const resumeCauses: readonly ResumeCause[] = [
  'explicit_resume',
  'condition_fired',
  'timeout',
  'external_event',
]

/**
 * The event of a timeout. `resume_with_input` passes it to the code as input if the conditions set
 * none.
 */
export interface TimeoutEvent {
  readonly type: 'lull.timeout'
  readonly handle: string
  readonly deadlineAt: string
}

/** How a child has ended. Its artifacts are in `child.result()`. */
export interface EndedChild {
  readonly taskId: string
  readonly state: TerminalState
  readonly message?: Message
}

/** How a suspension ended. `task.park()` returns it, and `task.wake` has the last one. */
export interface Wake {
  readonly handle: string
  readonly epoch: number
  readonly cause: ResumeCause
  readonly input: Json
  readonly event?: CloudEvent | TimeoutEvent
  /** The child whose end woke the task, for a park that waited for children. */
  readonly child?: EndedChild
  readonly continueTranscript: boolean
  readonly reason?: string
  readonly stoppedBy: Actor
  readonly resumedBy?: Actor
  readonly stoppedAt: number
  readonly resumedAt: number
  readonly pausedMs: number
}

/** Builds the wake from a suspension and the `resumed` record that ended it. */
export function wakeOf(
  suspension: Suspension,
  resumed: Pick<Wake, 'handle' | 'cause' | 'input' | 'event' | 'child' | 'continueTranscript'> & {
    readonly actor?: Actor
    readonly at: number
  },
): Wake {
  const { handle, cause, input, event, child, continueTranscript, actor, at } = resumed
  const stoppedAt = suspension.pausedAt ?? suspension.requestedAt
  return {
    handle,
    epoch: suspension.epoch,
    cause,
    input,
    ...(event === undefined ? {} : { event }),
    ...(child === undefined ? {} : { child }),
    continueTranscript,
    ...(suspension.reason === undefined ? {} : { reason: suspension.reason }),
    stoppedBy: suspension.actor,
    ...(actor === undefined ? {} : { resumedBy: actor }),
    stoppedAt,
    resumedAt: at,
    pausedMs: at - stoppedAt,
  }
}
