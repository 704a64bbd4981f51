/** Suspending and waking a task on behalf of a client. */

import { RequestError } from '@agentclientprotocol/sdk'
import { isLullError, LullError } from '../../../core/errors.ts'
import { textOf } from '../../../core/messages/message.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import type { OnTimeout, Trigger } from '../../../core/waiting/conditions.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { PauseRequest } from '../../../engine/requests/pause-task.ts'
import type { ResumeRequest } from '../../../engine/requests/resume-task.ts'
import type { AcpContext } from '../connection/context.ts'
import { isCancellation } from '../connection/faults.ts'
import { wakeFacts } from './stop-notices.ts'

/**
 * Resolves with the task when it is suspended, however long the running step takes. `$/cancel_request` withdraws the
 * pause. A lost connection does not.
 */
export async function suspendTask(
  { engine }: AcpContext,
  caller: Caller,
  request: PauseRequest,
  signal: AbortSignal,
): Promise<Task> {
  const { taskId } = request
  const { handle } = await engine.pause(
    caller,
    { ...request, graceMs: 0 },
    { evenInputRequired: true, origin: 'acp' },
  )
  const settled = (task: Task): boolean => task.pausing?.handle !== handle
  const task = await engine.waitFor(caller, taskId, settled, { signal })
  if (task.suspension?.handle === handle) return task
  if (!settled(task)) {
    if (isCancellation(signal.reason)) await takeBack(engine, caller, taskId, handle)
    throw RequestError.requestCancelled()
  }
  const why = 'it ended or was resumed before it stopped'
  throw new LullError('TASK_NOT_PAUSABLE', { taskId, state: task.state, why })
}

async function takeBack(
  engine: AcpContext['engine'],
  caller: Caller,
  taskId: string,
  handle: string,
): Promise<void> {
  try {
    await engine.resume(caller, { taskId, handle })
  } catch (error) {
    if (!isLullError(error)) throw error
  }
}

/** The `SessionSuspendResponse` of the RFC. */
export function suspendResponse({ facts }: AcpContext, task: Task): JsonObject {
  const { suspension } = task
  if (suspension === undefined) throw new Error(`task ${task.id} is not suspended`)
  const { handle, reason, pausedAt, requestedAt, conditions } = suspension
  return {
    handle,
    ...(reason === undefined ? {} : { reason }),
    suspendedAt: toIso(pausedAt ?? requestedAt),
    ...(conditions === undefined ? {} : { resumeWhen: conditions as Json }),
    summary: stopSummary(task, suspension),
    _meta: facts.ofTask(task),
  }
}

export async function wakeTask(
  { engine }: AcpContext,
  caller: Caller,
  request: ResumeRequest,
): Promise<JsonObject> {
  const answer = await engine.resume(caller, request)
  return { ...wakeFacts(answer), _meta: { lull: { taskId: request.taskId } } }
}

/** The most characters of the agent's last text that are quoted. */
const LONGEST_QUOTE = 200

/**
 * The `summary` of a suspension, as the RFC defines it: sentences that a client can show to its user. The agent may give
 * one when it parks. Otherwise it has the reason of the stop, the last text, and what wakes the task.
 */
function stopSummary(task: Task, suspension: Suspension): string {
  if (suspension.summary !== undefined) return suspension.summary
  return [stopSentence(suspension), ...lastWords(task), wakeSentence(suspension)].join(' ')
}

function stopSentence({ initiator, reason }: Suspension): string {
  const verb = initiator === 'agent' ? 'Parked' : 'Suspended'
  return reason === undefined || reason === '' ? `${verb}.` : `${verb}: ${reason}.`
}

function lastWords({ history, statusMessage }: Task): readonly string[] {
  const last = [...history, statusMessage].findLast((message) => message?.role === 'ROLE_AGENT')
  const text = last === undefined ? '' : textOf(last).replace(/\s+/g, ' ').trim()
  if (text === '') return []
  const quote = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 1)}…` : text
  return [`The agent said last: "${quote}".`]
}

/** What happens when the deadline of a task passes. */
const atDeadline: { readonly [A in OnTimeout]: 'goes on' | 'fails' } = {
  resume_with_summary: 'goes on',
  resume_with_input: 'goes on',
  fail: 'fails',
}

function wakeSentence({ conditions, deadlineAt, fireAt }: Suspension): string {
  const { onEvent, trigger, timeout } = conditions ?? {}
  const passing = timeout && atDeadline[timeout.onTimeout ?? 'resume_with_summary']
  const wakes = [
    ...(onEvent === undefined ? [] : [`at the event ${onEvent}`]),
    ...(trigger === undefined ? [] : [triggerWords(trigger, fireAt)]),
    ...(deadlineAt !== undefined && passing === 'goes on' ? [`at ${toIso(deadlineAt)}`] : []),
  ]
  const fails =
    deadlineAt !== undefined && passing === 'fails'
      ? ` It fails at ${toIso(deadlineAt)} if nothing wakes it before.`
      : ''
  const how = wakes.length === 0 ? 'when it is resumed' : `${wakes.join(', or ')}, or when resumed`
  return `It goes on ${how}.${fails}`
}

function triggerWords(trigger: Trigger, fireAt: number | undefined): string {
  if ('filter' in trigger) return 'at an event that its trigger matches'
  return fireAt === undefined ? 'when its trigger fires' : `at ${toIso(fireAt)}`
}
