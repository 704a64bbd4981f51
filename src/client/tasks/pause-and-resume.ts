/** Pause, resume and park, with fallbacks for peers without pause. The outcome always says which one was used. */

import { type State, states } from '../../core/states.ts'
import { type PauseMode, type ResumeCause, resumeCauses } from '../../core/suspension.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import type { Client, ClientParts } from '../client.ts'
import { isClientError, notA2A, unsupported } from '../client-error.ts'
import { operations } from '../wire/a2a-names.ts'
import {
  isTrue,
  omitUndefined,
  readMember,
  readObject,
  readOneOf,
  readSomeStrings,
  readString,
} from '../wire/json-members.ts'
import type { TaskCalls } from './task-calls.ts'
import type { Task, TaskFrame } from './task-types.ts'
import type { WatchOptions } from './watch.ts'

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
  /** How long the call waits, in milliseconds, for the task to reach a point where it can pause. Default 10,000, at most 60,000. */
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

/** The pause is accepted and its handle is valid. The task has not reached a point where it can pause yet. */
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
  /** The stop to resume. A later stop of the task is not resumed. */
  readonly handle?: string | undefined
  /** Passed to the agent. */
  readonly input?: Json | undefined
  /** Default true. False: the agent continues with a digest of the transcript. */
  readonly continueTranscript?: boolean | undefined
  /** With an `idempotencyKey` in the metadata, a repeated resume returns the first answer. */
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

type PauseAndResume = Pick<Client, 'pause' | 'resume' | 'awaitResumption'>

export function createPauseAndResume(
  parts: ClientParts,
  { cancel }: TaskCalls,
  { watch }: Pick<Client, 'watch'>,
): PauseAndResume {
  const { transport, streams } = parts

  /**
   * A capability that the card does not list is not offered (RFC). Without a fallback the card is not fetched, because
   * the peer itself refuses the call.
   */
  async function isOffered(fallback: PauseFallback, signal?: AbortSignal): Promise<boolean> {
    const card = fallback === 'fail' ? parts.knownCard() : await parts.card({ signal })
    return card?.capabilities.pause ?? true
  }

  /** @returns undefined when the peer does not offer pause */
  async function requestPause(
    taskId: string,
    input: PauseInput,
    fallback: PauseFallback,
    signal?: AbortSignal,
  ): Promise<PauseOutcome | undefined> {
    if (!(await isOffered(fallback, signal))) return undefined
    try {
      const params = { taskId, ...input }
      return readPaused(await transport.call(operations.pause, params, { signal }))
    } catch (error) {
      // The peer refuses although its card offers pause.
      if (isClientError(error) && error.kind === 'unsupported') return undefined
      throw error
    }
  }

  function detach(taskId: string): DetachedOutcome {
    const after = streams.detach(taskId)
    return omitUndefined<DetachedOutcome>({
      outcome: 'detached',
      taskId,
      after,
      reconnect: (options = {}) => watch(taskId, { ...options, after }),
    })
  }

  return {
    async pause(taskId, { fallback = 'fail', signal, ...input } = {}) {
      const outcome = await requestPause(taskId, input, fallback, signal)
      if (outcome !== undefined) return outcome
      if (fallback === 'fail') throw unsupported('pause')
      if (fallback === 'detach') return detach(taskId)
      return { outcome: 'cancelled', taskId, task: await cancel(taskId, { signal }) }
    },
    async resume(taskId, { signal, ...input } = {}) {
      const params = { taskId, ...input }
      return readResumed(await transport.call(operations.resume, params, { signal }))
    },
    async awaitResumption(taskId, park, { signal } = {}) {
      const params = { taskId, ...park }
      return readPaused(await transport.call(operations.park, params, { signal }))
    },
  }
}

function readPaused(value: unknown): PausedOutcome | PausingOutcome {
  const [taskId, handle] = [readString(value, 'taskId'), readString(value, 'handle')]
  const state = readOneOf(value, 'state', states)
  if (taskId === undefined || handle === undefined || state === undefined) {
    throw notA2A('a pause without taskId, handle or state')
  }
  const common = {
    taskId,
    state,
    handle,
    reason: readString(value, 'reason'),
    conditions: readObject(value, 'conditions') as ResumeConditions | undefined,
    mayStillAct: readSomeStrings(value, 'mayStillAct'),
  }
  if (isTrue(value, 'pausing')) {
    const requestedAt = readString(value, 'requestedAt') ?? ''
    return omitUndefined<PausingOutcome>({ outcome: 'pausing', ...common, requestedAt })
  }
  const pausedAt = readString(value, 'pausedAt') ?? ''
  const deadlineAt = readString(value, 'deadlineAt')
  return omitUndefined<PausedOutcome>({ outcome: 'paused', ...common, pausedAt, deadlineAt })
}

function readResumed(value: unknown): ResumeResult {
  const taskId = readString(value, 'taskId')
  const state = readOneOf(value, 'state', states)
  if (taskId === undefined || state === undefined) throw notA2A('a resume without taskId or state')
  return {
    taskId,
    state,
    previousState: readOneOf(value, 'previousState', states) ?? 'paused-by-client',
    cause: readOneOf(value, 'cause', resumeCauses) ?? 'explicit_resume',
    hadResumeInput: isTrue(value, 'hadResumeInput'),
    continueTranscript: readMember(value, 'continueTranscript') !== false,
    resumedAt: readString(value, 'resumedAt') ?? '',
  }
}
