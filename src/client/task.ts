/**
 * What a peer tells of a task, in one shape: messages, parts and artifacts as A2A 1.0 spells them, the state in the words
 * of the domain, whatever version and binding carried it.
 */
import type { ResumeConditions } from '../core/conditions.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Artifact, Message } from '../core/message.ts'
import type { ExpiryReason, Propagate, RoleHint } from '../core/reminders.ts'
import type { State } from '../core/states.ts'
import type { PauseMode, ResumeCause } from '../core/suspension.ts'

/** `unknown`: the peer used a word that is none of A2A's nor of ours; `status.state` has it. */
export type TaskState = State | 'unknown'

export interface TaskStatus {
  /** As the peer spelled it, such as `TASK_STATE_WORKING`. */
  readonly state: string
  readonly message?: Message
  readonly timestamp?: string
}

/** The stop a task is in, or on its way to. */
export interface Suspension {
  readonly handle: string
  /** The pause was accepted; the task has not come to its boundary yet. */
  readonly pausing: boolean
  readonly initiator?: 'client' | 'agent'
  /** The nth stop of the task. */
  readonly epoch?: number
  readonly reason?: string
  readonly summary?: string
  readonly mode?: PauseMode
  readonly requestedAt?: string
  readonly pausedAt?: string
  readonly deadlineAt?: string
  /** What wakes it; absent: only an explicit resume. */
  readonly conditions?: ResumeConditions
}

/** How the last stop ended. */
export interface Resumption {
  readonly cause: ResumeCause
  readonly previousState: State
  readonly hadResumeInput: boolean
  readonly continueTranscript: boolean
  readonly resumedAt: string
}

/** What the user is asked to allow. The answer names the `consentId`. */
export interface Consent {
  readonly consentId: string
  readonly prompt?: string
  readonly operation?: Json
  /** Of the operation: a consent counts for this one and no other. */
  readonly digest?: string
  readonly scope?: Json
  readonly expiresAt?: string
}

/** What our extensions say beside the core state. Each member is there only while it is true. */
export interface StopFacts {
  readonly suspension?: Suspension
  readonly resumption?: Resumption
  readonly consent?: Consent
}

export interface Task extends StopFacts {
  readonly id: string
  readonly contextId: string
  readonly state: TaskState
  readonly status: TaskStatus
  readonly artifacts: readonly Artifact[]
  readonly history: readonly Message[]
  readonly metadata: JsonObject
}

/** A reminder as the peer holds it. */
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
      /** The reminder that took their place. */
      readonly by: string
      readonly displaced: readonly string[]
    }
  | { readonly event: 'expired'; readonly reminderId: string; readonly reason: ExpiryReason }

/** What every frame of a stream has. */
export interface Frame {
  /** Where a stream can be continued after this frame; empty when the peer cannot do that. */
  readonly cursor: string
}

/** The task as it stands. */
export interface SnapshotFrame extends Frame {
  readonly kind: 'task'
  readonly task: Task
  /** Stands for everything since the frame before it: the stream broke and the peer could not continue it. */
  readonly reread?: true
}

/** The whole answer of an agent that made no task. */
export interface MessageFrame extends Frame {
  readonly kind: 'message'
  readonly message: Message
}

export interface StatusFrame extends Frame, StopFacts {
  readonly kind: 'status'
  readonly taskId: string
  readonly contextId: string
  readonly state: TaskState
  readonly status: TaskStatus
  readonly metadata: JsonObject
  /** From 0 to 1, of agents that say so. */
  readonly progress?: number
}

export interface ArtifactFrame extends Frame {
  readonly kind: 'artifact'
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  /** To the end of the artifact with the same id. */
  readonly append: boolean
  readonly lastChunk: boolean
  /**
   * The artifact is the live output of a step. `open`: not part of the task yet. `recorded`: complete, and part of it.
   * `discarded`: the attempt that wrote it did not finish; a new one may start it anew.
   */
  readonly stream?: StreamState
}

export type StreamState = 'open' | 'recorded' | 'discarded'

/** Something happened to a reminder; the task's state is as it was. */
export interface ReminderFrame extends Frame {
  readonly kind: 'reminder'
  readonly taskId: string
  readonly change: ReminderChange
}

/** One frame of a stream. */
export type TaskFrame = SnapshotFrame | MessageFrame | StatusFrame | ArtifactFrame | ReminderFrame

/** The answer to a message: a task, or a message and nothing more. */
export type SendResult =
  | {
      readonly kind: 'task'
      readonly task: Task
      /** Reminders that had waited for this message and went with it. */
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
  /** Of all pages, as far as the peer can tell the tasks apart. */
  readonly totalSize: number
}
