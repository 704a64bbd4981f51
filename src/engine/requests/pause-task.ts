/** Pauses or parks a task for a caller. */

import { z } from 'zod'
import { type ErrorCode, isLullError, LullError } from '../../core/errors.ts'
import { mayStillAct } from '../../core/evolve/abandoned.ts'
import { isPaused, isTerminal, type State } from '../../core/states.ts'
import type { Actor, PauseMode, Suspension } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { actorOf, type Caller } from '../caller.ts'
import { type EngineContext, mintHandle, taskFor } from '../context.ts'
import { resumeConditions } from '../input/conditions.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { check } from '../input/parse.ts'
import { id, jsonObject, reason, summary } from '../input/primitives.ts'
import type { ParkRequest } from '../input/requests.ts'
import { pauseMode } from '../input/unions.ts'
import type { Committed } from '../ledger/ledger.ts'
import { fireAt } from '../wakes/fire-at.ts'
import { childrenOf } from './child-of.ts'
import { admitFilter } from './filter-limit.ts'
import type { Verb } from './verb.ts'
import { waitFor } from './wait.ts'

/** The longest time a caller may wait until a task is paused. */
const GRACE_LIMIT_MS = 60_000

export interface PauseRequest {
  readonly taskId: string
  readonly reason?: string | undefined
  /** Default `finish_step`. */
  readonly mode?: PauseMode | undefined
  readonly conditions?: ResumeConditions | null | undefined
  /** How long the answer may wait until the task is paused. Default 10,000, at most 60,000. */
  readonly graceMs?: number | undefined
  /** Pause its sub-tasks too. */
  readonly cascade?: boolean | undefined
  readonly metadata?: JsonObject | undefined
}

export const pauseVerb: Verb<'pause'> = {
  input: z.strictObject({
    taskId: id,
    reason: reason.optional(),
    mode: pauseMode.optional(),
    conditions: resumeConditions.nullish(),
    graceMs: z.number().int().min(0).max(GRACE_LIMIT_MS, 'must be at most 60000').optional(),
    cascade: z.boolean().optional(),
    metadata: jsonObject.optional(),
  } satisfies FieldsOf<PauseRequest>),
  audited: 'task.pause',
  limited: true,
  scope: 'tasks:control',
  act: 'control',
  offer: 'pause',
  method:
    ({ context }) =>
    (caller, request, dialect) =>
      pause(context, caller, request, undefined, dialect),
}

/** A park that a worker outside the process asks for. */
export interface ParkTaskRequest extends ParkRequest {
  readonly taskId: string
  readonly metadata?: JsonObject | undefined
}

export const parkVerb: Verb<'park'> = {
  input: z.strictObject({
    taskId: id,
    reason,
    summary: summary.optional(),
    conditions: resumeConditions.nullish(),
    metadata: jsonObject.optional(),
  } satisfies FieldsOf<ParkTaskRequest>),
  audited: 'task.park',
  limited: true,
  scope: 'tasks:work',
  act: 'control',
  offer: 'pause',
  method:
    ({ context }) =>
    (caller, request) =>
      park(context, caller, request),
}

/** Where a protocol's pause differs from the RFC's. */
export interface PauseDialect {
  /** A task that asks a question can be paused. */
  readonly evenInputRequired?: boolean
  /** Pausing a paused task is an error, not a repeat. */
  readonly refuseRepeat?: boolean
  /** The protocol it came by. A prompt over ACP lifts what was suspended over ACP, and no other pause. */
  readonly origin?: string
}

export function pause(
  context: EngineContext,
  caller: Caller,
  request: PauseRequest,
  actor: Actor = actorOf(caller),
  dialect: PauseDialect = {},
): Promise<PauseAnswer> {
  return pauseOnce(context, caller, request, { actor, dialect, visited: new Set() })
}

interface Pausing {
  readonly actor: Actor
  readonly dialect: PauseDialect
  /** The tasks that a cascade has come to. Imported tasks can name each other as parents. */
  readonly visited: Set<string>
}

async function pauseOnce(
  context: EngineContext,
  caller: Caller,
  request: PauseRequest,
  { actor, dialect, visited }: Pausing,
): Promise<PauseAnswer> {
  const {
    taskId,
    reason,
    mode = 'finish_step',
    conditions,
    graceMs,
    cascade,
  } = check(pauseVerb.input, request)
  const { clock, ids, runs, events, options } = context
  const armed = conditions ?? undefined
  const firesAt = fireAt(armed, clock.now())
  const found = await pausableTask(context, caller, taskId)
  await admitFilter(context, found, armed)
  await events.refresh(found.tenant)
  const committed = await runs.commitStop(taskId, mode, (_task, atBoundary) => ({
    type: 'pause',
    handle: mintHandle(ids),
    actor,
    mode,
    ...(reason === undefined ? {} : { reason }),
    ...(armed === undefined ? {} : { conditions: armed }),
    ...(firesAt === undefined ? {} : { fireAt: firesAt }),
    eventsAfter: events.lastPos(found.tenant),
    atBoundary,
    ...dialect,
  }))
  const [settled] = await Promise.all([
    settledFrom(context, committed, graceMs ?? options.graceMs),
    cascade ? pauseChildren(context, caller, found, request, visited.add(taskId)) : undefined,
  ])
  return pauseAnswer(settled, 'client')
}

/** @throws LullError `NOT_OFFERED` when the task's agent offers no pause */
async function pausableTask(context: EngineContext, caller: Caller, taskId: string): Promise<Task> {
  const task = await taskFor(context, caller, taskId, pauseVerb.act)
  if (context.agents.get(task.agent)?.pause !== false) return task
  throw new LullError('NOT_OFFERED', { agent: task.agent, capability: 'pause' })
}

/** The task when its pause has committed, or after the grace time. */
function settledFrom(
  context: EngineContext,
  { latest }: Committed,
  graceMs: number,
): Task | Promise<Task> {
  if (latest.pausing === undefined) return latest
  const wanted = ({ pausing }: Task): boolean => pausing === undefined
  return waitFor(context, { taskId: latest.id, wanted, timeoutMs: graceMs })
}

/**
 * Parks a task for a worker outside the process. The park commits at the task's next boundary. Like every park, it can be
 * woken by an event that came after the task began.
 */
export async function park(
  context: EngineContext,
  caller: Caller,
  request: ParkTaskRequest,
): Promise<PauseAnswer> {
  const { taskId, reason, summary, conditions } = check(parkVerb.input, request)
  const { clock, ids, runs, events, options } = context
  const armed = conditions ?? undefined
  const firesAt = fireAt(armed, clock.now())
  const found = await pausableTask(context, caller, taskId)
  await admitFilter(context, found, armed)
  const mode = 'finish_step'
  await events.refresh(found.tenant)
  const committed = await runs.commitStop(taskId, mode, (_task, atBoundary) => ({
    type: 'pause',
    handle: mintHandle(ids),
    actor: { kind: 'agent', id: found.agent },
    mode,
    reason,
    ...(armed === undefined ? {} : { conditions: armed }),
    ...(firesAt === undefined ? {} : { fireAt: firesAt }),
    eventsAfter: armed?.since === 'now' ? events.lastPos(found.tenant) : found.eventsAfter,
    atBoundary,
    parks: summary === undefined ? {} : { summary },
  }))
  return pauseAnswer(await settledFrom(context, committed, options.graceMs), 'agent')
}

/** Whether the refusal means: the child is not running, so there is nothing to stop. */
const notRunning: Readonly<Record<ErrorCode, boolean>> = {
  TASK_NOT_PAUSABLE: true,
  NOT_OFFERED: true,
  TASK_NOT_FOUND: true,
  TASK_UNREADABLE: true,

  NOT_FOUND: false,
  INVALID_INPUT: false,
  TASK_NOT_PAUSED: false,
  RESUME_HANDLE_MISMATCH: false,
  TASK_TERMINAL: false,
  TASK_HELD: false,
  BUDGET_EXCEEDED: false,
  CONSENT_MISMATCH: false,
  CONSENT_NOT_YOURS: false,
  NOT_ASKING: false,
  REMINDER_LIMIT: false,
  IDEMPOTENCY_KEY_REUSED: false,
  AGENT_UNKNOWN: false,
  LIMIT_EXCEEDED: false,
  FORBIDDEN: false,
  DRAINING: false,
  STORE_UNAVAILABLE: false,
  RECORD_REFUSED: false,
  OVERLOADED: false,
  STORE_LOCKED: false,
  STEP_RESULT: false,
  STEP_TIMEOUT: false,
  CONSENT_DENIED: false,
  STALE_RUN: false,
}

async function pauseChildren(
  context: EngineContext,
  caller: Caller,
  parent: Task,
  request: PauseRequest,
  visited: Set<string>,
): Promise<void> {
  const now = (await context.ledger.read(parent.id)) ?? parent
  const children = await childrenOf(context, now)
  const how = { actor: { kind: 'parent', id: parent.id }, dialect: {}, visited } as const
  const paused = children
    .filter(({ id }) => !visited.has(id))
    .map(({ id: taskId }) =>
      pauseOnce(context, { ...caller, operator: true }, { ...request, taskId }, how).catch(
        (error: unknown) => {
          if (!isLullError(error) || !notRunning[error.code]) throw error
        },
      ),
    )
  await Promise.all(paused)
}

/** The answer to a pause, or to a park by a worker. The request is durable. */
export interface PauseAnswer {
  readonly taskId: string
  readonly state: State
  /** The grace time passed before the pause committed. Its commit follows as a record. */
  readonly pausing?: true
  readonly handle: string
  readonly requestedAt: number
  readonly pausedAt?: number
  readonly deadlineAt?: number
  readonly reason?: string
  readonly conditions?: ResumeConditions
  /** Steps that were told to stop and did not. They may act although the task is stopped. */
  readonly mayStillAct?: readonly string[]
}

/**
 * @param asked who asked for the stop. A client that asked and finds the agent's park was too late: its own pause was ended
 * by a resume before it committed.
 * @throws LullError `TASK_NOT_PAUSABLE` when the stop that was asked for did not happen
 */
export function pauseAnswer(task: Task, asked: Suspension['initiator']): PauseAnswer {
  const stopped = task.suspension ?? task.pausing
  const isParkInstead = asked === 'client' && stopped?.initiator === 'agent'
  // The task ended or was resumed before the pause committed.
  if (stopped === undefined || isParkInstead) {
    const why = isTerminal(task.state) ? `it is ${task.state}` : 'it was resumed before it stopped'
    throw new LullError('TASK_NOT_PAUSABLE', { taskId: task.id, state: task.state, why })
  }
  const { handle, requestedAt, pausedAt, deadlineAt, reason, conditions } = stopped
  const acting = mayStillAct(task)
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
    ...(acting === undefined ? {} : { mayStillAct: acting }),
  }
}
