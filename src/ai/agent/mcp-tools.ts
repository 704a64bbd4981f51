/**
 * Makes the tools of MCP servers tools of an `aiAgent`. The tool list of a server is a journaled
 * step of the first turn, so a rebuilt task does not need a running server for it. Each call is a
 * journaled step, as for any other tool.
 */
import { jsonSchema, type ToolSet } from 'ai'
import { LullError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import type { McpLog } from '../../mcp/client/connect.ts'
import type { McpClient, McpTool } from '../../mcp/client/mcp-client.ts'
import type { McpServer } from '../../mcp/client/server-config.ts'
import { type ToolContext, toolContext, type UserAnswer } from '../tools/execute-call.ts'
import { type AnyTool, plainOutput, type ToolOutput } from '../tools/results.ts'

type Servers = Readonly<Record<string, McpServer>>

/**
 * The tools of the servers together with the agent's own. The MCP client is loaded when the first
 * task needs it.
 */
export interface McpTools {
  of(task: AgentTask): Promise<ToolSet>
  /** Closes the connections. A later task opens new ones. */
  close(): Promise<void>
}

/** @param own the agent's own tools, which keep their names */
export function createMcpTools(servers: Servers | undefined, own: ToolSet = {}): McpTools {
  if (servers === undefined) return { of: async () => own, close: async () => undefined }
  let client: Promise<McpClient> | undefined
  const load = (): Promise<McpClient> => {
    client ??= import('../../mcp/client/mcp-client.ts').then(
      ({ createMcpClient }) => createMcpClient(servers),
      (error: unknown) => {
        const problem = `needs the package @modelcontextprotocol/client: ${String(error)}`
        throw new LullError('INVALID_INPUT', { path: 'mcp', problem })
      },
    )
    return client
  }
  return {
    async of(task) {
      const tools: Record<string, AnyTool> = { ...own }
      for (const [server, config] of Object.entries(servers)) {
        const list = await task.step(`mcp:${server}:list`, async () =>
          (await load()).list(server, logOf(task)),
        )
        for (const one of list)
          tools[freeName(tools, server, one.name)] = toTool(load, server, config, one)
      }
      return tools
    },
    close: async () => (await client?.catch(() => undefined))?.close(),
  }
}

const logOf =
  (task: AgentTask): McpLog =>
  (level, text, facts) =>
    task.log(level, text, facts)

const MAX_NAME = 64

/**
 * A name for the tool that providers accept: at most 64 letters, digits, `_` and `-`. A number is
 * appended if another tool has that name.
 */
function freeName(tools: ToolSet, server: string, tool: string): string {
  const long = `${server}_${tool}`.replace(/[^a-zA-Z0-9_-]/g, '_')
  let name = long.slice(0, MAX_NAME)
  for (let number = 2; Object.hasOwn(tools, name); number++) {
    const end = `_${number}`
    name = long.slice(0, MAX_NAME - end.length) + end
  }
  return name
}

function toTool(
  load: () => Promise<McpClient>,
  server: string,
  { approve = 'never' }: McpServer,
  tool: McpTool,
): AnyTool {
  const needsApproval = approve === 'always' || (approve !== 'never' && !tool.readOnly)
  return {
    description: tool.description,
    inputSchema: jsonSchema(tool.inputSchema as Parameters<typeof jsonSchema>[0]),
    needsApproval,
    execute: async (input: JsonObject, options: object) => {
      const context = toolContext(options)
      const progress = createProgress(context)
      const result = await (await load()).call({
        server,
        tool,
        input,
        idempotencyKey: context.step.idempotencyKey,
        log: logOf(context.task),
        signal: context.step.signal,
        onProgress: progress.report,
        onQuestion: ({ message, schema }) =>
          toAnswer(context.ask({ message, schema: schema as JsonObject }), schema),
      })
      await progress.written()
      return result
    },
    toModelOutput: ({ output }: { readonly output: unknown }) => mcpOutput(output),
  } as AnyTool
}

const TENTHS = 10

/** Limits progress reports of a server to ten reports of the task, because each is a record. */
function createProgress({ task }: ToolContext) {
  let reported = -1
  let writing: Promise<void> = Promise.resolve()
  return {
    report(fraction: number, text: string | undefined): void {
      const tenth = Math.floor(fraction * TENTHS)
      if (tenth <= reported) return
      reported = tenth
      writing = writing.then(() => task.progress(fraction, text)).catch(() => undefined)
    },
    written: () => writing,
  }
}

/** The user's answer in the shape that the server asked for. */
function toAnswer({ text, data }: UserAnswer, schema: unknown) {
  const content = data ?? fieldFrom(text, schema)
  return typeof content === 'object' && content !== null && !Array.isArray(content)
    ? { action: 'accept' as const, content: content as Record<string, string> }
    : { action: 'decline' as const }
}

/** If the schema has a single member, a text answer becomes its value. */
function fieldFrom(text: string, schema: unknown): Json {
  const { properties = {} } = { ...(schema as { readonly properties?: object }) }
  const [name, ...more] = Object.keys(properties)
  return name === undefined || more.length > 0 ? null : { [name]: text }
}

/** The output of a tool for the model. Images are passed as images. */
function mcpOutput(output: unknown): ToolOutput {
  if (!Array.isArray(output)) return plainOutput(output)
  const value = output.map((block: JsonObject) =>
    block['type'] === 'image'
      ? { type: 'image-data', data: block['data'], mediaType: block['mimeType'] }
      : { type: 'text', text: block['type'] === 'text' ? block['text'] : JSON.stringify(block) },
  )
  return { type: 'content', value } as ToolOutput
}
