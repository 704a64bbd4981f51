/** Pause and resume, as callers ask for them. */

import type { ResumeConditions } from '../core/conditions.ts'
import { type ErrorCode, isLullError, LullError } from '../core/errors.ts'
import { isPaused, isTerminal, type State } from '../core/states.ts'
import type { Actor, ResumeCause } from '../core/suspension.ts'
import type { ResumeAnswer, Task } from '../core/task.ts'
import { actorOf, type Caller } from './caller.ts'
import { type EngineContext, mintHandle, taskFor } from './context.ts'
import { parkTaskInput, pauseInput, resumeInput } from './inputs.ts'
import type { Committed } from './ledger.ts'
import { parse } from './parse.ts'
import type { ParkTaskRequest, PauseRequest, ResumeRequest } from './requests.ts'
import { fireAt } from './schedule.ts'
import { waitFor } from './wait.ts'

/** Given when the pause is durable. `pausing`: the grace time passed first, and the commit arrives as a record. */
export interface PauseAnswer {
  readonly taskId: string
  readonly state: State
  readonly pausing?: true
  readonly handle: string
  readonly requestedAt: number
  readonly pausedAt?: number
  readonly deadlineAt?: number
  readonly reason?: string
  readonly conditions?: ResumeConditions
}

export type { ResumeAnswer } from '../core/task.ts'

/** How dialects differ from the RFC. */
export interface PauseDialect {
  readonly evenInputRequired?: boolean
  readonly refuseRepeat?: boolean
}

export async function pause(
  context: EngineContext,
  caller: Caller,
  request: PauseRequest,
  actor: Actor = actorOf(caller),
  dialect: PauseDialect = {},
): Promise<PauseAnswer> {
  const {
    taskId,
    reason,
    mode = 'finish_step',
    conditions,
    graceMs,
    cascade,
  } = parse(pauseInput, request)
  const { clock, ids, runs, events, agents, options } = context
  const armed = conditions ?? undefined
  const firesAt = fireAt(armed, clock.now())
  const found = await taskFor(context, caller, taskId)
  if (agents.get(found.agent)?.pause === false) {
    throw new LullError('NOT_OFFERED', { agent: found.agent, capability: 'pause' })
  }
  const committed = await runs.commitStop(taskId, mode, (_task, atBoundary) => ({
    type: 'pause',
    handle: mintHandle(ids),
    actor,
    mode,
    ...(reason === undefined ? {} : { reason }),
    ...(armed === undefined ? {} : { conditions: armed }),
    ...(firesAt === undefined ? {} : { fireAt: firesAt }),
    eventsAfter: events.lastPos(),
    atBoundary,
    ...dialect,
  }))
  const [settled] = await Promise.all([
    settledFrom(context, committed, graceMs ?? options.graceMs),
    cascade ? pauseChildren(context, caller, found, request) : undefined,
  ])
  return pauseAnswer(settled)
}

/** The task when its pause has committed, or as it stands after the grace time. */
function settledFrom(
  context: EngineContext,
  { latest }: Committed,
  graceMs: number,
): Task | Promise<Task> {
  if (latest.pausing === undefined) return latest
  return waitFor(context, latest.id, (task) => task.pausing === undefined, graceMs)
}

/**
 * A worker outside the process parks the task it works on. It commits at the next boundary, as if the agent had asked;
 * events count since the task began, as for every park.
 */
export async function park(
  context: EngineContext,
  caller: Caller,
  request: ParkTaskRequest,
): Promise<PauseAnswer> {
  const { taskId, reason, summary, conditions } = parse(parkTaskInput, request)
  const { clock, ids, runs, events, options } = context
  const armed = conditions ?? undefined
  const firesAt = fireAt(armed, clock.now())
  const found = await taskFor(context, caller, taskId)
  if (context.agents.get(found.agent)?.pause === false) {
    throw new LullError('NOT_OFFERED', { agent: found.agent, capability: 'pause' })
  }
  const mode = 'finish_step'
  const committed = await runs.commitStop(taskId, mode, (_task, atBoundary) => ({
    type: 'pause',
    handle: mintHandle(ids),
    actor: { kind: 'agent', id: found.agent },
    mode,
    reason,
    ...(armed === undefined ? {} : { conditions: armed }),
    ...(firesAt === undefined ? {} : { fireAt: firesAt }),
    eventsAfter: armed?.since === 'now' ? events.lastPos() : found.eventsAfter,
    atBoundary,
    parks: summary === undefined ? {} : { summary },
  }))
  return pauseAnswer(await settledFrom(context, committed, options.graceMs))
}

const unpausable: ReadonlySet<ErrorCode> = new Set([
  'TASK_NOT_PAUSABLE',
  'NOT_OFFERED',
  'TASK_NOT_FOUND',
  'TASK_UNREADABLE',
])

async function pauseChildren(
  context: EngineContext,
  caller: Caller,
  parent: Task,
  request: PauseRequest,
): Promise<void> {
  const now = (await context.ledger.read(parent.id)) ?? parent
  const paused = now.children.map((taskId) =>
    pause(
      context,
      { ...caller, operator: true },
      { ...request, taskId },
      {
        kind: 'parent',
        id: parent.id,
      },
    ).catch((error: unknown) => {
      // A child that ended, asks, is parked or does not exist yet is not running: there is nothing to stop.
      if (!isLullError(error) || !unpausable.has(error.code)) throw error
    }),
  )
  await Promise.all(paused)
}

function pauseAnswer(task: Task): PauseAnswer {
  const stopped = task.suspension ?? task.pausing
  // The task ended, or was resumed, before the pause committed.
  if (stopped === undefined) {
    const why = isTerminal(task.state) ? `it is ${task.state}` : 'it was resumed before it stopped'
    throw new LullError('TASK_NOT_PAUSABLE', { taskId: task.id, state: task.state, why })
  }
  const { handle, requestedAt, pausedAt, deadlineAt, reason, conditions } = stopped
  return {
    taskId: task.id,
    state: task.state,
    ...(isPaused(task.state) ? {} : { pausing: true as const }),
    handle,
    requestedAt,
    ...(pausedAt === undefined ? {} : { pausedAt }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(reason === undefined ? {} : { reason }),
    ...(conditions === undefined ? {} : { conditions }),
  }
}

/**
 * How dialects differ from the RFC: `anyHandle` asks for none, even where the server requires one; `external_event` is
 * what wakes a task when somebody speaks to it.
 */
export interface ResumeDialect {
  readonly anyHandle?: boolean
  readonly cause?: ResumeCause & ('explicit_resume' | 'external_event')
}

export async function resume(
  context: EngineContext,
  caller: Caller,
  request: ResumeRequest,
  actor: Actor = actorOf(caller),
  how: ResumeDialect = {},
): Promise<ResumeAnswer> {
  const {
    taskId,
    handle,
    input = null,
    continueTranscript = true,
    metadata,
  } = parse(resumeInput, request)
  const idempotencyKey = metadata?.['idempotencyKey'] as string | undefined
  const { runs, options } = context
  const found = await taskFor(context, caller, taskId)
  // A task that a hold or a policy stopped can be resumed, also where the agent offers no pause.
  if (context.agents.get(found.agent)?.pause === false && found.suspension === undefined) {
    throw new LullError('NOT_OFFERED', { agent: found.agent, capability: 'pause' })
  }
  const { task } = await runs.commit(taskId, found.agent, (_task, run) => ({
    type: 'resume',
    actor,
    cause: how.cause ?? 'explicit_resume',
    ...(handle === undefined || handle === null ? {} : { handle }),
    requireHandle: options.requireHandle && !how.anyHandle,
    input,
    continueTranscript,
    ...(run === undefined ? {} : { run }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }))
  const answer =
    idempotencyKey === undefined
      ? task.resumes.at(-1)
      : task.resumes.find((known) => known.idempotencyKey === idempotencyKey)
  if (answer === undefined) throw new LullError('TASK_NOT_PAUSED', { taskId, state: task.state })
  return answer
}
