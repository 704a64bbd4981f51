/**
 * Implements the methods of MCP tasks, for clients that support them: `tasks/get` and
 * `tasks/cancel` in both specifications, `tasks/result` in 2025-11-25, `tasks/update` in
 * 2026-07-28. The id of the MCP task is the id of the task, so a client finds the task again after
 * a restart of either side.
 */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Client } from '../../client/client.ts'
import { isClientError } from '../../client/client-error.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { createAsking, giveAnswer, related } from './asking.ts'
import { askedBy, describedTask, isEnded, POLL_MS, resultOf, statusOf } from './mcp-task.ts'
import { type Peer, peerWithTasks } from './peer.ts'

const params = z.looseObject({ taskId: z.string() })

export function serveMcpTasks(server: Server, client: Client): void {
  const ask = createAsking(server, client)
  server.setRequestHandler('tasks/get', { params }, async ({ taskId }, context) => {
    const peer = peerWithTasks(server, context)
    const task = await found(client.get(taskId))
    if (peer.isModern) return detailed(task, peer)
    if (peer.canAsk) ask(task)
    return legacyTask(task, peer)
  })
  server.setRequestHandler('tasks/cancel', { params }, async ({ taskId }, context) => {
    const peer = peerWithTasks(server, context)
    const before = await found(client.get(taskId))
    if (!isEnded(before)) await refusable(client.cancel(taskId))
    else if (!peer.isModern) throw invalid(`The task is ${before.state}`)
    return peer.isModern ? {} : legacyTask(await client.get(taskId), peer)
  })
  server.setRequestHandler('tasks/update', { params }, async ({ taskId }, context) => {
    peerWithTasks(server, context)
    const task = await found(client.get(taskId))
    const asked = askedBy(task)
    const response = asked && context.mcpReq.inputResponses?.[asked.key]
    if (response === undefined) return {}
    await refusable(giveAnswer(client, task, response))
    return {}
  })
  server.setRequestHandler('tasks/result', { params }, async ({ taskId }, context) => {
    const peer = peerWithTasks(server, context)
    await found(client.get(taskId))
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
async function refusable<T>(call: Promise<T>): Promise<T> {
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
function detailed(task: Task, peer: Peer) {
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

async function found(reading: Promise<Task>): Promise<Task> {
  try {
    return await reading
  } catch (error) {
    throw isClientError(error, 'TASK_NOT_FOUND') ? invalid('Task not found') : error
  }
}
