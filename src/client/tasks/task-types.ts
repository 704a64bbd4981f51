/** A task and the frames of its stream. The shapes are those of A2A 1.0 for every version and binding. */

import type { Artifact, Message } from '../../core/messages/message.ts'
import type { ExpiryReason, Propagate, RoleHint } from '../../core/reminders/reminders.ts'
import type { State } from '../../core/states.ts'
import type { PauseMode, ResumeCause } from '../../core/suspension.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'

/** `unknown`: a state that neither A2A nor Lull defines. `status.state` has it. */
export type TaskState = State | 'unknown'

export interface TaskStatus {
  /** The state as the peer wrote it, such as `TASK_STATE_WORKING`. */
  readonly state: string
  readonly message?: Message
  readonly timestamp?: string
}

/** The current stop of a task, or a pause that was accepted and has not taken effect. */
export interface Suspension {
  readonly handle: string
  /** The pause was accepted, and the task has not reached a point where it can pause yet. */
  readonly pausing: boolean
  readonly initiator?: 'client' | 'agent'
  /** Counts the stops of the task, from 1. */
  readonly epoch?: number
  readonly reason?: string
  readonly summary?: string
  readonly mode?: PauseMode
  readonly requestedAt?: string
  readonly pausedAt?: string
  readonly deadlineAt?: string
  /** What wakes the task. Absent: only an explicit resume. */
  readonly conditions?: ResumeConditions
  /** Steps that were told to stop and did not. They may act although the task is stopped. */
  readonly mayStillAct?: readonly string[]
}

/** How the last stop ended. */
export interface Resumption {
  readonly cause: ResumeCause
  readonly previousState: State
  readonly hadResumeInput: boolean
  readonly continueTranscript: boolean
  readonly resumedAt: string
}

/** The operation that the user is asked to allow. The answer names the `consentId`. */
export interface Consent {
  readonly consentId: string
  readonly prompt?: string
  readonly operation?: Json
  /** The digest of the operation. The consent is valid for this operation only. */
  readonly digest?: string
  readonly scope?: Json
  readonly expiresAt?: string
}

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** The state that extensions add to the core state. A member is present only while it applies. */
export interface ExtendedState {
  readonly suspension?: Suspension
  readonly resumption?: Resumption
  readonly consent?: Consent
  /** What the task has used so far, if its agent says so. */
  readonly usage?: Usage
}

export interface Task extends ExtendedState {
  readonly id: string
  readonly contextId: string
  readonly state: TaskState
  readonly status: TaskStatus
  readonly artifacts: readonly Artifact[]
  readonly history: readonly Message[]
  readonly metadata: JsonObject
}

/** A reminder that the peer holds. */
export interface PendingReminder {
  readonly id: string
  readonly body: string
  readonly tags: readonly string[]
  readonly dedupeKey?: string
  readonly ttlTurns?: number
  readonly preserveOnCompact?: boolean
  readonly propagate?: Propagate
  readonly roleHint?: RoleHint
  readonly source?: string
  readonly firedAtTurn?: number
  readonly mode?: PauseMode
  readonly inheritedFrom?: string
  readonly metadata?: JsonObject
  readonly acceptedAt?: string
}

/** What happened to a reminder of the task. */
export type ReminderChange =
  | { readonly event: 'emitted'; readonly reminder: PendingReminder }
  | {
      readonly event: 'deduped'
      readonly dedupeKey: string
      /** The reminder that replaced them. */
      readonly by: string
      readonly displaced: readonly string[]
    }
  | { readonly event: 'expired'; readonly reminderId: string; readonly reason: ExpiryReason }

/** The members of every frame. */
export interface Frame {
  /** A stream that is opened with this cursor continues after this frame. Empty: the peer cannot continue streams. */
  readonly cursor: string
}

/** The whole current task. */
export interface SnapshotFrame extends Frame {
  readonly kind: 'task'
  readonly task: Task
  /** The snapshot replaces frames that were lost, because the stream broke and the peer could not continue it. */
  readonly reread?: true
}

/** The answer of an agent that started no task. */
export interface MessageFrame extends Frame {
  readonly kind: 'message'
  readonly message: Message
}

export interface StatusFrame extends Frame, ExtendedState {
  readonly kind: 'status'
  readonly taskId: string
  readonly contextId: string
  readonly state: TaskState
  readonly status: TaskStatus
  readonly metadata: JsonObject
  /** From 0 to 1, if the agent reports it. */
  readonly progress?: number
}

export interface ArtifactFrame extends Frame {
  readonly kind: 'artifact'
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  /** The parts are appended to the artifact with the same id. */
  readonly append: boolean
  readonly lastChunk: boolean
  /**
   * Present when the artifact is the live output of a step. `open`: the task does not contain it yet. `recorded`: it is
   * complete and the task contains it. `discarded`: the attempt that wrote it did not finish; a new attempt may write it
   * again.
   */
  readonly stream?: StreamState
}

export type StreamState = 'open' | 'recorded' | 'discarded'

/** A reminder changed. The state of the task did not. */
export interface ReminderFrame extends Frame {
  readonly kind: 'reminder'
  readonly taskId: string
  readonly change: ReminderChange
}

/** One frame of a stream. */
export type TaskFrame = SnapshotFrame | MessageFrame | StatusFrame | ArtifactFrame | ReminderFrame

/** The answer to a message: a task, or only a message. */
export type SendResult =
  | {
      readonly kind: 'task'
      readonly task: Task
      /** The attached reminders that the message carried. */
      readonly reminderIds: readonly string[]
    }
  | {
      readonly kind: 'message'
      readonly message: Message
      readonly reminderIds: readonly string[]
    }

export interface TaskPage {
  readonly tasks: readonly Task[]
  /** Empty on the last page. */
  readonly nextPageToken: string
  /**
   * The number of tasks on all pages. With a filter by state it can be too large, because peers count the states of A2A.
   */
  readonly totalSize: number
}
