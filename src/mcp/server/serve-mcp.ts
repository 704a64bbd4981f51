/** Serves the tasks of an agent as MCP tools, for the specifications of 2025-11-25 and 2026-07-28. */
import type { Readable, Writable } from 'node:stream'
import { McpServer, type ServerContext, type Transport } from '@modelcontextprotocol/server'
import {
  type StdioServerHandle,
  StdioServerTransport,
  serveStdio,
} from '@modelcontextprotocol/server/stdio'
import type { Client } from '../../client/client.ts'
import { ClientError } from '../../client/client-error.ts'
import type { Json } from '../../core/json.ts'
import { follow, summaryOf, type Told } from './follow.ts'
import { type TaskTool, taskTools } from './task-tools.ts'

/** The name that the proposal for MCP gives to a reminder, in both directions. */
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

/** One server for the connection, in the version of the specification that the other side speaks. */
export function serveOn(client: Client, transport: Transport): StdioServerHandle {
  return serveStdio(() => createMcpServer(client), { transport })
}

function createMcpServer(client: Client): McpServer {
  const server = new McpServer(
    { name: 'lull', title: 'Lull tasks', version: '0.1.0' },
    { capabilities: { tools: {} } },
  )
  for (const [name, tool] of Object.entries(taskTools)) {
    register(server, client, name, tool)
  }
  return server
}

function register(
  server: McpServer,
  client: Client,
  name: string,
  { about, input, readOnly, run }: TaskTool,
): void {
  const annotations = { readOnlyHint: readOnly, destructiveHint: name === 'task_cancel' }
  server.registerTool(
    name,
    { description: about, inputSchema: input, annotations },
    async (given, context) => {
      try {
        const done = await run(client, given)
        if ('result' in done) return content(done.result)
        const { signal } = context.mcpReq
        return content(
          summaryOf(await follow(client, done.task, done.waitSeconds, telling(context), signal)),
        )
      } catch (error) {
        if (!(error instanceof ClientError)) throw error
        return {
          ...content({
            error: error.message,
            ...(error.reason === undefined ? {} : { reason: error.reason }),
          }),
          isError: true,
        }
      }
    },
  )
}

/** As text, which every client shows to its model, and as data. */
function content(result: Record<string, Json>) {
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(result, null, 2) }],
    structuredContent: result,
  }
}

function telling({ mcpReq }: ServerContext): Told {
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
