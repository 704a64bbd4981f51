/** An MCP server of the official SDK with tools for tests, over HTTP in this process or over stdio in its own. */
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

export interface Seen {
  note(text: string): void
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

export function sampleServer(seen: Seen): McpServer {
  const server = new McpServer(
    { name: 'sample', version: '1.0.0' },
    { capabilities: { tools: {} } },
  )
  const numbers = z.object({ a: z.number(), b: z.number() })
  const annotations = { readOnlyHint: true }
  server.registerTool('add', { inputSchema: numbers, annotations }, async ({ a, b }, ctx) => {
    seen.note(`add ${a} ${b} ${String(ctx.mcpReq._meta?.['lull/idempotencyKey'] !== undefined)}`)
    return text(String(a + b))
  })
  server.registerTool('fail', { inputSchema: z.object({}) }, async () => {
    return { ...text('no disk'), isError: true }
  })
  server.registerTool('hang', { inputSchema: z.object({}) }, async (_, ctx) => {
    await new Promise<void>((resolve) => {
      ctx.mcpReq.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    seen.note('given up')
    return text('never read')
  })
  server.registerTool('die', { inputSchema: z.object({}) }, async () => process.exit(1))
  server.registerTool('work', { inputSchema: z.object({}) }, async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (let progress = 1; progress <= 100 && progressToken !== undefined; progress++) {
      const params = { progressToken, progress, total: 100, message: `${progress} of 100` }
      await ctx.mcpReq.notify({ method: 'notifications/progress', params })
    }
    return text('worked')
  })
  const colour = z.object({ colour: z.string() })
  const thing = z.object({ thing: z.string().default('wall') })
  server.registerTool('paint', { inputSchema: thing }, async ({ thing }, ctx) => {
    const chosen = acceptedContent(ctx.mcpReq.inputResponses, 'colour', colour)
    if (chosen === undefined) {
      seen.note('asked')
      const ask = inputRequired.elicit({
        message: `Which colour for the ${thing}?`,
        requestedSchema: colour,
      })
      return inputRequired({ inputRequests: { colour: ask } })
    }
    seen.note(`painted ${chosen.colour}`)
    return text(`painted ${chosen.colour}`)
  })
  return server
}

export interface HttpServer {
  readonly url: string
  close(): Promise<void>
}

export async function serveOverHttp(seen: Seen, port = 0): Promise<HttpServer> {
  const handler = createMcpHandler(() => sampleServer(seen))
  return new Promise((resolve) => {
    const server = serve(
      { fetch: (request) => handler.fetch(request), port, hostname: '127.0.0.1' },
      (address) => {
        const close = (): Promise<void> =>
          new Promise((closed) => {
            server.close(() => closed())
            if ('closeAllConnections' in server) server.closeAllConnections()
          })
        resolve({ url: `http://127.0.0.1:${address.port}/mcp`, close })
      },
    )
  })
}

/** The server over stdio, as the configuration of an agent has it. */
export function stdioServer(): { readonly command: string; readonly args: readonly string[] } {
  const file = fileURLToPath(import.meta.url)
  return { command: process.execPath, args: ['--import', 'tsx', file, '--stdio'] }
}

if (process.argv.includes('--stdio')) serveStdio(() => sampleServer({ note: () => undefined }))
