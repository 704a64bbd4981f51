/**
 * The methods of the extension: suspend, wake, remind, steer, receipts. Their names are in
 * `names.ts`.
 */

import { RequestError } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { parse } from '../../../engine/input/parse.ts'
import type { Offers } from '../../../engine/requests/offers.ts'
import { type ReceiptReport, receiptReport } from '../../../engine/requests/verify-task.ts'
import { isOwn, taskIdIn, toRemind, toSuspend, toWake } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import { METHOD_NOT_FOUND } from '../connection/faults.ts'
import type { Method } from '../connection/handling.ts'
import type { Extension } from '../names.ts'
import { ownHandle } from '../prompts/continue-task.ts'
import { create } from '../prompts/create-task.ts'
import { injectReminder } from '../reminders/session-reminders.ts'
import { isBlank, partOf } from '../render/content.ts'
import {
  injectReminderRequest,
  receiptsRequest,
  steeringRequest,
  suspendRequest,
  wakeRequest,
} from '../schemas/requests.ts'
import { suspendResponse, suspendTask, wakeTask } from './suspending.ts'
import { isFields, type SuspendFields, type WakeFields } from './tunnel.ts'

async function suspend(
  connection: Connection,
  params: unknown,
  signal: AbortSignal,
): Promise<JsonObject> {
  return suspendSession(connection, parse(suspendRequest, params), signal)
}

export async function suspendSession(
  connection: Connection,
  { sessionId, reason, mode, resumeWhen, _meta }: SuspendFields,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { acp, caller } = connection
  await connection.promptsRouted(sessionId)
  const attachment = await connection.attached(sessionId)
  const { id: taskId } = toSuspend(
    await acp.sessions.openTasks(caller, sessionId),
    sessionId,
    _meta,
  )
  const request = { taskId, reason, mode, conditions: resumeWhen }
  const task = await suspendTask(acp, caller, request, signal)
  // The updates of the stop are sent before the answer.
  await attachment.seen(taskId, task.version)
  return suspendResponse(acp, task)
}

async function wake(connection: Connection, params: unknown): Promise<JsonObject> {
  return wakeSession(connection, parse(wakeRequest, params))
}

export async function wakeSession(
  connection: Connection,
  { sessionId, input, continueTranscript, _meta, ...given }: WakeFields,
): Promise<JsonObject> {
  const { acp, caller } = connection
  await connection.promptsRouted(sessionId)
  await connection.attached(sessionId)
  const handle = await ownHandle(connection, sessionId, given.handle ?? undefined)
  const open = await acp.sessions.openTasks(caller, sessionId)
  const { id: taskId } = toWake(open, sessionId, handle, _meta)
  return wakeTask(acp, caller, { taskId, handle, input, continueTranscript })
}

async function remind(connection: Connection, params: unknown): Promise<JsonObject> {
  const { acp, caller } = connection
  const { sessionId, reminder, _meta } = parse(injectReminderRequest, nested(params))
  await connection.promptsRouted(sessionId)
  await connection.attached(sessionId)
  const open = await acp.sessions.openTasks(caller, sessionId)
  return injectReminder(acp, caller, sessionId, toRemind(open, _meta), reminder)
}

/** Moves the members of a reminder under `reminder`, if the client sent them beside `sessionId`. */
function nested(params: unknown): unknown {
  if (!isFields(params) || 'reminder' in params) return params
  const { sessionId, _meta, ...reminder } = params
  return { sessionId, reminder, ...(_meta === undefined ? {} : { _meta }) }
}

/**
 * Sends a message to the running task. If no task runs, the message starts one that no request
 * waits for, unless the client prefers to send a prompt instead.
 */
async function steer(connection: Connection, params: unknown): Promise<JsonObject> {
  const { acp, caller } = connection
  const { sessionId, prompt, _meta } = parse(steeringRequest, params)
  await connection.promptsRouted(sessionId)
  await connection.attached(sessionId)
  const parts = prompt.map(partOf)
  if (isBlank(prompt)) {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: 'must say something' })
  }
  const open = (await acp.sessions.openTasks(caller, sessionId)).filter(isOwn)
  const task = open.findLast(({ state }) => state === 'working') ?? toRemind(open, _meta)
  const messageId = acp.ids.uuid()
  const message: Message = { messageId, role: 'ROLE_USER', parts }
  connection.sending(messageId, 'aside')
  if (task !== undefined && !isInterrupted(task.state)) {
    await acp.engine.send(caller, { message: { ...message, taskId: task.id } })
    return { outcome: 'injected', _meta: { lull: { taskId: task.id } } }
  }
  const steering = isFields(_meta) ? _meta['steering'] : undefined
  if (task !== undefined || (isFields(steering) && steering['idleBehavior'] === 'promptRequired')) {
    return { outcome: 'promptRequired' }
  }
  const sent = await create(connection, sessionId, message)
  if (sent.kind === 'task') {
    return { outcome: 'startedNewTurn', _meta: { lull: { taskId: sent.task.id } } }
  }
  await connection.say(sessionId, sent.message)
  return { outcome: 'startedNewTurn' }
}

/**
 * Wraps a method that exists only if an agent has the capability. Otherwise it is unknown, whatever
 * its parameters are.
 */
function needing(
  capability: keyof Offers,
  method: Method<unknown, unknown>,
): Method<unknown, unknown> {
  return async (connection, params, signal) => {
    if (connection.acp.offers[capability]) return method(connection, params, signal)
    const problem = `No agent behind this connection offers ${capability}`
    throw new RequestError(METHOD_NOT_FOUND, problem, { reason: 'not_offered', capability })
  }
}

/** `wake` needs no capability, because a hold or a policy can stop any task. */
export const extension: Readonly<Record<Extension, Method<unknown, unknown>>> = {
  suspend: needing('pause', suspend),
  wake,
  remind: needing('reminders', remind),
  steer,
  receipts,
}

/**
 * Returns the signed receipts of the task named by `_meta.lull.taskId`, or else of the latest one, even if
 * it has ended.
 */
async function receipts(
  { acp: { engine, sessions }, caller }: Connection,
  params: unknown,
): Promise<ReceiptReport> {
  const { sessionId, _meta } = parse(receiptsRequest, params)
  await sessions.get(caller, sessionId)
  const taskId = taskIdIn(_meta) ?? (await latest())
  const task = taskId === undefined ? undefined : await engine.get(caller, taskId)
  if (task?.contextId !== sessionId) {
    const problem = 'is not a task of the session'
    throw new LullError('INVALID_INPUT', { path: '_meta.lull.taskId', problem })
  }
  return receiptReport(await engine.verify(caller, task.id))

  async function latest(): Promise<string | undefined> {
    const { tasks } = await engine.list(caller, { contextId: sessionId, limit: 1 })
    return tasks[0]?.id
  }
}
