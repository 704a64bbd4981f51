/**
 * Finds the task of a session that a request means: the one it names, else the only one in a
 * suitable state.
 */
import { RequestError } from '@agentclientprotocol/sdk'
import { isInterrupted, isPaused, type State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { parse } from '../../../engine/input/parse.ts'
import { addressMeta } from '../schemas/meta.ts'
import { INVALID_PARAMS, STATE_CONFLICT } from './faults.ts'

export type Meta = Readonly<Record<string, unknown>> | null | undefined

/** Reads `_meta.lull.taskId`. */
export function taskIdIn(meta: Meta): string | undefined {
  return parse(addressMeta, meta ?? {}, '_meta').lull?.taskId
}

/** Whether a suspend can stop a task in this state. */
const canSuspend: Readonly<Record<State, boolean>> = {
  submitted: true,
  working: true,
  'input-required': true,
  'auth-required': false,
  'user-consent-required': false,
  'paused-by-client': false,
  'paused-by-agent': false,
  completed: false,
  failed: false,
  canceled: false,
  rejected: false,
}

/**
 * The task to suspend: the running one. Without a running task, a suspended one, so that the
 * earlier answer is repeated.
 */
export function toSuspend(open: readonly Task[], sessionId: string, meta: Meta): Task {
  const named = nameIn(open, meta)
  if (named !== undefined) return named
  const own = open.filter(isOwn)
  const runs = own.filter(({ state }) => canSuspend[state])
  const found = only(runs) ?? only(own.filter(({ state }) => state === 'paused-by-client'))
  // No task can be suspended. For a task in another state, the engine explains why.
  return found ?? own[0] ?? refused(sessionId, 'not_running', `Nothing runs in ${sessionId}`)
}

/**
 * The task to wake.
 * @param handle the handle of the current or an earlier stop of the task
 */
export function toWake(
  open: readonly Task[],
  sessionId: string,
  handle: string | undefined,
  meta: Meta,
): Task {
  const named = nameIn(open, meta)
  if (named !== undefined) return named
  const stopped = open.filter((task) => isOwn(task) && stopOf(task) !== undefined)
  if (handle === undefined) {
    return (
      only(stopped) ?? refused(sessionId, 'not_suspended', `Nothing is suspended in ${sessionId}`)
    )
  }
  const found =
    stopped.find((task) => stopOf(task)?.handle === handle) ??
    open.find((task) => stopOf(task) === undefined && had(task, handle)) ??
    stopped[0] ??
    open[0]
  return found ?? refused(sessionId, 'not_suspended', `Nothing is suspended in ${sessionId}`)
}

/**
 * The task that a prompt continues: one that is stopped or asks a question. Undefined: the prompt
 * starts a new task.
 */
export function toPrompt(open: readonly Task[], meta: Meta): Task | undefined {
  return (
    nameIn(open, meta) ??
    only(open.filter((task) => isInterrupted(task.state) || (isOwn(task) && isPaused(task.state))))
  )
}

/** The task that a reminder is for. Undefined: it is kept for the next task. */
export function toRemind(open: readonly Task[], meta: Meta): Task | undefined {
  return nameIn(open, meta) ?? only(open.filter(isOwn))
}

/** Whether the session itself controls the task. A child is controlled by its parent. */
export function isOwn({ parentId }: Task): boolean {
  return parentId === undefined
}

function stopOf({ suspension, pausing }: Task): Task['suspension'] {
  return suspension ?? pausing
}

function had({ resumes }: Task, handle: string): boolean {
  return resumes.some((answer) => answer.handle === handle)
}

function nameIn(open: readonly Task[], meta: Meta): Task | undefined {
  const taskId = taskIdIn(meta)
  if (taskId === undefined) return undefined
  const found = open.find(({ id }) => id === taskId)
  if (found !== undefined) return found
  const path = '_meta.lull.taskId'
  const problem = 'is no open task of this session'
  throw new RequestError(INVALID_PARAMS, `${path}: ${problem}`, { path, problem })
}

function only(tasks: readonly Task[]): Task | undefined {
  if (tasks.length < 2) return tasks[0]
  const path = '_meta.lull.taskId'
  const problem = 'must name one of the tasks that fit'
  const taskIds = tasks.map(({ id }) => id)
  throw new RequestError(INVALID_PARAMS, `${path}: ${problem}: ${taskIds.join(', ')}`, {
    reason: 'ambiguous',
    path,
    problem,
    taskIds,
  })
}

function refused(sessionId: string, reason: string, message: string): never {
  throw new RequestError(STATE_CONFLICT, message, { reason, sessionId })
}
