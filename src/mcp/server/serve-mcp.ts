/** Serves the tasks of an agent as MCP tools, for the specifications of 2025-11-25 and 2026-07-28. */

import type { Readable, Writable } from 'node:stream'
import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/server'
import {
  type StdioServerHandle,
  StdioServerTransport,
  serveStdio,
} from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import type { Client } from '../../client/client.ts'
import { ClientError } from '../../client/client-error.ts'
import type { Task, TaskFrame } from '../../client/tasks/task-types.ts'
import { textOf } from '../../core/messages/message.ts'
import type { Json } from '../../core/values/json.ts'
import { type Peer, peerOf, TASKS } from './peer.ts'
import { summaryOf, toolResult } from './render-task.ts'
import { handleOf, serveMcpTasks } from './task-methods.ts'
import { type TaskTool, taskTools } from './task-tools.ts'

/** The notification that the MCP proposal defines for reminders, in both directions. */
const REMINDER = 'notifications/reminder'

export interface ServingMcp {
  readonly ended: Promise<void>
  close(): Promise<void>
}

export function serveMcp(
  client: Client,
  streams: { readonly input: Readable; readonly output: Writable },
): ServingMcp {
  const { input, output } = streams
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve)
    input.once('close', resolve)
  })
  const { close } = serveOn(client, new StdioServerTransport(input, output))
  return { ended, close }
}

/** Serves one connection, in the version of the specification that the other side uses. */
export function serveOn(client: Client, transport: Transport): StdioServerHandle {
  return serveStdio(() => createMcpServer(client), { transport })
}

function createMcpServer(client: Client): Server {
  const server = new Server(
    { name: 'lull', title: 'Lull tasks', version: '0.1.0' },
    {
      capabilities: {
        tools: {},
        tasks: { cancel: {}, requests: { tools: { call: {} } } },
        extensions: { [TASKS]: {} },
      },
    },
  )
  server.setRequestHandler('tools/list', (_request, context) => ({
    tools: Object.entries(taskTools).map(([name, tool]) =>
      describeTool(name, tool, peerOf(server, context)),
    ),
  }))
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(client, params, peerOf(server, context), context),
  )
  serveMcpTasks(server, client)
  return server
}

function describeTool(
  name: string,
  { about, input, readOnly, starts }: TaskTool,
  peer: Peer,
): Tool {
  const schema = JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input' })))
  return {
    name,
    description: about,
    inputSchema: schema as Tool['inputSchema'],
    annotations: { readOnlyHint: readOnly, destructiveHint: name === 'task_cancel' },
    ...(starts && !peer.isModern ? { execution: { taskSupport: 'optional' as const } } : {}),
  }
}

/**
 * Calls a tool. Answers with an MCP task if the client asked for one (2025-11-25) or supports them
 * (2026-07-28).
 */
async function callTool(
  client: Client,
  { name, arguments: given = {}, ...more }: CallToolRequest['params'],
  peer: Peer,
  context: ServerContext,
): Promise<CallToolResult> {
  const tool = Object.hasOwn(taskTools, name) ? taskTools[name] : undefined
  if (tool === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`)
  const wantsTask = peer.isModern ? peer.knowsTasks && tool.starts : 'task' in more
  if (wantsTask && !tool.starts)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${name} does not run as a task`)
  try {
    const done = await tool.run(client, given)
    if ('result' in done) return toolResult(done.result)
    if (wantsTask) return handleOf(await client.get(done.task), peer)
    const { signal } = context.mcpReq
    return toolResult(
      summaryOf(await follow(client, done.task, done.waitSeconds, createNotifier(context), signal)),
    )
  } catch (error) {
    context.mcpReq.signal.throwIfAborted()
    return { ...toolResult(problemIn(error)), isError: true }
  }
}

function problemIn(error: unknown): Record<string, Json> {
  if (error instanceof z.ZodError) return { error: z.prettifyError(error) }
  const reason = error instanceof ClientError ? { reason: error.reason } : {}
  return { error: error instanceof Error ? error.message : String(error), ...reason }
}

function createNotifier({ mcpReq }: ServerContext): Notifier {
  const token = mcpReq._meta?.progressToken
  let progress = 0
  const notify = (method: string, params: Readonly<Record<string, unknown>>): void => {
    mcpReq.notify({ method, params: { ...params } }).catch(() => undefined)
  }
  return {
    progress(message) {
      progress++
      if (token !== undefined)
        notify('notifications/progress', { progressToken: token, progress, message })
    },
    reminder: (params) => notify(REMINDER, params),
  }
}

/** Notifications to the MCP client while a tool waits. */
interface Notifier {
  progress(text: string): void
  /** Reports a change of a reminder, in the shape that A2A and ACP use too. */
  reminder(params: Readonly<Record<string, Json>>): void
}

const MOVING: ReadonlySet<string> = new Set(['submitted', 'working'])

/**
 * Follows a task until it ends, waits for an answer or a resume, or the time is up. Keeps the MCP
 * client informed meanwhile.
 */
async function follow(
  client: Client,
  taskId: string,
  waitSeconds: number,
  notifier: Notifier,
  signal: AbortSignal,
): Promise<Task> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1_000)])
  try {
    for await (const frame of client.watch(taskId, { signal: until })) {
      notifyOf(frame, notifier)
      const state = stateIn(frame)
      if (state !== undefined && !MOVING.has(state)) break
    }
  } catch (error) {
    if (!until.aborted) throw error
  }
  signal.throwIfAborted()
  return client.get(taskId)
}

function stateIn(frame: TaskFrame): string | undefined {
  if (frame.kind === 'task') return frame.task.state
  return frame.kind === 'status' ? frame.state : undefined
}

function notifyOf(frame: TaskFrame, notifier: Notifier): void {
  if (frame.kind === 'status') {
    const { message } = frame.status
    notifier.progress(message === undefined ? frame.state : textOf(message))
  }
  if (frame.kind === 'reminder') {
    const { taskId, change } = frame
    notifier.reminder({ taskId, ...(JSON.parse(JSON.stringify(change)) as Record<string, Json>) })
  }
}
