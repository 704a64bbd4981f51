/**
 * Implements the methods of MCP tasks, for clients that support them: `tasks/get` and
 * `tasks/cancel` in both specifications, `tasks/result` in 2025-11-25, `tasks/update` in
 * 2026-07-28. The id of the MCP task is the id of the task, so a client finds the task again after
 * a restart of either side. A client of 2025-11-25 gets the questions of tasks as requests of the
 * server; a client of 2026-07-28 reads them with `tasks/get` instead.
 */

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Server,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Client } from '../../client/client.ts'
import { isClientError } from '../../client/client-error.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { type Peer, peerWithTasks } from './peer.ts'
import {
  type Asked,
  answerIn,
  askedBy,
  describedTask,
  isEnded,
  POLL_MS,
  resultOf,
  statusOf,
} from './render-task.ts'

const params = z.looseObject({ taskId: z.string() })

export function serveMcpTasks(server: Server, client: Client): void {
  const ask = createAsking(server, client)
  server.setRequestHandler('tasks/get', { params }, async ({ taskId }, context) => {
    const peer = peerWithTasks(server, context)
    const task = await readTask(client.get(taskId))
    if (peer.isModern) return renderDetails(task, peer)
    if (peer.canAsk) ask(task)
    return legacyTask(task, peer)
  })
  server.setRequestHandler('tasks/cancel', { params }, async ({ taskId }, context) => {
    const peer = peerWithTasks(server, context)
    const before = await readTask(client.get(taskId))
    if (!isEnded(before)) await passRefusal(client.cancel(taskId))
    else if (!peer.isModern) throw invalid(`The task is ${before.state}`)
    return peer.isModern ? {} : legacyTask(await client.get(taskId), peer)
  })
  server.setRequestHandler('tasks/update', { params }, async ({ taskId }, context) => {
    peerWithTasks(server, context)
    const task = await readTask(client.get(taskId))
    const asked = askedBy(task)
    const response = asked && context.mcpReq.inputResponses?.[asked.key]
    if (response === undefined) return {}
    await passRefusal(giveAnswer(client, task, response))
    return {}
  })
  server.setRequestHandler('tasks/result', { params }, async ({ taskId }, context) => {
    const peer = peerWithTasks(server, context)
    await readTask(client.get(taskId))
    const isSettled = (task: Task): boolean => {
      if (peer.canAsk) ask(task)
      const status = statusOf(task, peer.canAsk)
      return status === 'completed' || status === 'cancelled'
    }
    const task = await client.waitFor(taskId, isSettled, { signal: context.mcpReq.signal })
    return { ...resultOf(task), _meta: related(taskId) }
  })
}

/** Passes a refusal of the server on to the client, because the task may have ended meanwhile. */
async function passRefusal<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw isClientError(error) ? invalid(error.message) : error
  }
}

/**
 * The answer to a call whose work continues as an MCP task. `content` is included because the SDK
 * requires it in each result.
 */
export function handleOf(task: Task, peer: Peer): CallToolResult {
  return peer.isModern
    ? { resultType: 'task', ...modernTask(task, peer), content: [] }
    : { task: legacyTask(task, peer), content: [] }
}

const legacyTask = (task: Task, { canAsk }: Peer) => ({
  ...describedTask(task, canAsk),
  ttl: null,
  pollInterval: POLL_MS,
})

const modernTask = (task: Task, { canAsk }: Peer) => ({
  ...describedTask(task, canAsk),
  ttlMs: null,
  pollIntervalMs: POLL_MS,
})

/** The task with its result if it has ended, or with its question if it asks one. */
function renderDetails(task: Task, peer: Peer) {
  const described = modernTask(task, peer)
  if (described.status === 'completed')
    return { ...described, result: { resultType: 'complete', ...resultOf(task) } }
  const asked = askedBy(task)
  if (asked === undefined) return described
  const { key, form } = asked
  return { ...described, inputRequests: { [key]: { method: 'elicitation/create', params: form } } }
}

const invalid = (problem: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, problem)

async function readTask(reading: Promise<Task>): Promise<Task> {
  try {
    return await reading
  } catch (error) {
    throw isClientError(error, 'TASK_NOT_FOUND') ? invalid('Task not found') : error
  }
}

/** Metadata that names the task to which a message of the server belongs. */
function related(taskId: string): Record<string, { readonly taskId: string }> {
  return { [RELATED_TASK_META_KEY]: { taskId } }
}

/**
 * Sends the user's answer to the task. If the user dismissed the question, the task keeps waiting.
 * @throws ClientError
 */
async function giveAnswer(client: Client, task: Task, response: unknown): Promise<void> {
  const answer = answerIn(task, response)
  if (answer !== undefined) await client.answer(task.id, answer, { returnImmediately: true })
}

/**
 * Asks the questions of one connection. A question is asked once, and again after an answer that
 * the task refused.
 */
function createAsking(server: Server, client: Client): (task: Task) => void {
  const put = new Set<string>()

  async function ask(task: Task, asked: Asked): Promise<void> {
    const response = await responseTo(server, client, task.id, asked)
    if (response !== undefined) await giveAnswer(client, task, response)
  }

  return (task) => {
    const asked = askedBy(task)
    if (asked === undefined || put.has(asked.key)) return
    put.add(asked.key)
    ask(task, asked).catch((error: unknown) => {
      if (isClientError(error)) put.delete(asked.key)
    })
  }
}

/** How long a person may take to answer. */
const ANSWER_MS = 24 * 3_600_000

/** @returns undefined if the question was answered elsewhere */
async function responseTo(
  server: Server,
  client: Client,
  taskId: string,
  { key, form }: Asked,
): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const hasMovedOn = (task: Task): boolean => askedBy(task)?.key !== key
  const elsewhere = client.waitFor(taskId, hasMovedOn, { signal }).then(() => undefined)
  const params = { ...form, _meta: related(taskId) }
  const request = { method: 'elicitation/create' as const, params }
  const response = server.request(request, { signal, timeout: ANSWER_MS })
  try {
    return await Promise.race([elsewhere, response])
  } finally {
    over.abort()
    await Promise.allSettled([elsewhere, response])
  }
}
