/** Parameters and results of pause, resume and park, and the fallbacks for peers without pause. */
import type { ResumeConditions } from '../core/conditions.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { type State, states } from '../core/states.ts'
import { type PauseMode, type ResumeCause, resumeCauses } from '../core/suspension.ts'
import { notA2A } from './client-error.ts'
import type { Task, TaskFrame } from './tasks/task-types.ts'
import type { WatchOptions } from './tasks/watch.ts'
import {
  isTrue,
  memberOf,
  numberIn,
  objectIn,
  present,
  someTextsIn,
  textIn,
  wordIn,
} from './wire/json-members.ts'

/**
 * For peers that do not offer pause:
 * - `fail`: an error of kind `unsupported` (the default);
 * - `cancel`: end the task; its work is lost;
 * - `detach`: stop reading the task and leave it running; the outcome can reconnect.
 */
export type PauseFallback = 'fail' | 'cancel' | 'detach'

export interface PauseInput {
  readonly reason?: string | undefined
  /** Default `finish_step`. */
  readonly mode?: PauseMode | undefined
  /** What wakes the task. Absent: only an explicit resume. */
  readonly conditions?: ResumeConditions | undefined
  /** How long the answer may wait for the boundary of the task. Default 10,000, at most 60,000. */
  readonly graceMs?: number | undefined
  /** Also pause the children of the task. */
  readonly cascade?: boolean | undefined
  readonly metadata?: JsonObject | undefined
}

export interface PausedOutcome {
  readonly outcome: 'paused'
  readonly taskId: string
  readonly state: State
  readonly handle: string
  readonly pausedAt: string
  readonly reason?: string
  readonly conditions?: ResumeConditions
  readonly deadlineAt?: string
  /** Steps that were told to stop and did not. They may act although the task is stopped. */
  readonly mayStillAct?: readonly string[]
}

/** The pause is accepted and its handle is valid. The task has not reached its boundary. */
export interface PausingOutcome {
  readonly outcome: 'pausing'
  readonly taskId: string
  readonly state: State
  readonly handle: string
  readonly requestedAt: string
  readonly reason?: string
  readonly conditions?: ResumeConditions
  /** Steps that were told to stop and did not. They may act although the task is stopped. */
  readonly mayStillAct?: readonly string[]
}

/** The peer cannot pause, and `fallback: 'cancel'` was chosen. */
export interface CancelledOutcome {
  readonly outcome: 'cancelled'
  readonly taskId: string
  readonly task: Task
}

/** The peer cannot pause, and `fallback: 'detach'` was chosen: the task runs on, and this client stops reading it. */
export interface DetachedOutcome {
  readonly outcome: 'detached'
  readonly taskId: string
  /** The cursor of the last frame. Another process can continue with `watch(taskId, {after})`. */
  readonly after?: string
  readonly reconnect: (options?: Omit<WatchOptions, 'after'>) => AsyncGenerator<TaskFrame, void>
}

export type PauseOutcome = PausedOutcome | PausingOutcome | CancelledOutcome | DetachedOutcome

export interface ResumeInput {
  /** Resume this stop and no later one. */
  readonly handle?: string | undefined
  /** Passed to the agent. */
  readonly input?: Json | undefined
  /** Default true. False: the agent continues with a digest of the transcript. */
  readonly continueTranscript?: boolean | undefined
  /** `idempotencyKey` in here makes a repeated resume return the first answer. */
  readonly metadata?: JsonObject | undefined
}

export interface ResumeResult {
  readonly taskId: string
  readonly state: State
  readonly previousState: State
  readonly cause: ResumeCause
  readonly hadResumeInput: boolean
  readonly continueTranscript: boolean
  readonly resumedAt: string
}

/** A park that a worker requests in the agent's name. */
export interface ParkInput {
  readonly reason: string
  readonly summary?: string | undefined
  readonly conditions?: ResumeConditions | undefined
  readonly metadata?: JsonObject | undefined
}

export function readPaused(value: unknown): PausedOutcome | PausingOutcome {
  const [taskId, handle] = [textIn(value, 'taskId'), textIn(value, 'handle')]
  const state = wordIn(value, 'state', states)
  if (taskId === undefined || handle === undefined || state === undefined) {
    throw notA2A('a pause without taskId, handle or state')
  }
  const facts = {
    taskId,
    state,
    handle,
    reason: textIn(value, 'reason'),
    conditions: objectIn(value, 'conditions') as ResumeConditions | undefined,
    mayStillAct: someTextsIn(value, 'mayStillAct'),
  }
  if (isTrue(value, 'pausing')) {
    const requestedAt = textIn(value, 'requestedAt') ?? ''
    return present<PausingOutcome>({ outcome: 'pausing', ...facts, requestedAt })
  }
  const pausedAt = textIn(value, 'pausedAt') ?? ''
  const deadlineAt = textIn(value, 'deadlineAt')
  return present<PausedOutcome>({ outcome: 'paused', ...facts, pausedAt, deadlineAt })
}

export function readResumed(value: unknown): ResumeResult {
  const taskId = textIn(value, 'taskId')
  const state = wordIn(value, 'state', states)
  if (taskId === undefined || state === undefined) throw notA2A('a resume without taskId or state')
  return {
    taskId,
    state,
    previousState: wordIn(value, 'previousState', states) ?? 'paused-by-client',
    cause: wordIn(value, 'cause', resumeCauses) ?? 'explicit_resume',
    hadResumeInput: isTrue(value, 'hadResumeInput'),
    continueTranscript: memberOf(value, 'continueTranscript') !== false,
    resumedAt: textIn(value, 'resumedAt') ?? '',
  }
}

export function readAccepted(value: unknown): {
  readonly outcome: 'accepted'
  readonly reminderId: string
  readonly dedupedCount: number
  readonly acceptedAt: string
} {
  const reminderId = textIn(value, 'reminderId')
  if (reminderId === undefined) throw notA2A('a reminder without its id')
  return {
    outcome: 'accepted',
    reminderId,
    dedupedCount: numberIn(value, 'dedupedCount') ?? 0,
    acceptedAt: textIn(value, 'acceptedAt') ?? '',
  }
}
