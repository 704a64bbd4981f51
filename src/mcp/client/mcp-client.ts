/**
 * Lists and calls the tools of MCP servers. Both results are plain JSON, so that they can be
 * journaled.
 */
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { Connection, McpLog, QuestionAnswer, ServerQuestion } from './connect.ts'
import { McpConnections } from './connections.ts'
import type { McpServer } from './server-config.ts'

/** A tool as the server describes it. */
export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly readOnly: boolean
  /** Whether the server declares that a repeated call has no further effect. */
  readonly idempotent: boolean
}

export interface McpCall {
  readonly server: string
  readonly tool: Pick<McpTool, 'name' | 'readOnly' | 'idempotent'>
  readonly input: JsonObject
  readonly idempotencyKey: string
  readonly log: McpLog
  readonly signal: AbortSignal
  readonly onProgress: (fraction: number, text: string | undefined) => void
  /** Answers a question. If it throws, the call ends with the same error. */
  readonly onQuestion: (question: ServerQuestion) => QuestionAnswer
}

export interface McpClient {
  list(server: string, log: McpLog): Promise<readonly McpTool[]>
  /**
   * Returns the content of the result.
   * @throws Error with the text of a result that the server marks as an error
   */
  call(call: McpCall): Promise<Json>
  close(): Promise<void>
}

const TIMEOUT_MS = 60_000

export function createMcpClient(servers: Readonly<Record<string, McpServer>>): McpClient {
  const connections = new McpConnections(servers)

  return {
    list: (server, log) =>
      connections.use({ server, log, mayRepeat: true }, async ({ client }) => {
        const { tools } = await client.listTools()
        return tools.map(toTool).sort((a, b) => (a.name < b.name ? -1 : 1))
      }),
    call: (call) => {
      const { server, tool, signal, log } = call
      const { timeoutMs = TIMEOUT_MS } = servers[server] ?? {}
      const use = { server, log, mayRepeat: tool.readOnly || tool.idempotent, turn: signal }
      return connections.use(use, (connection) => callOn(connection, call, timeoutMs))
    },
    close: () => connections.close(),
  }
}

interface Described {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: unknown
  readonly annotations?:
    | { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined }
    | undefined
}

function toTool({ name, description = '', inputSchema, annotations }: Described): McpTool {
  return {
    name,
    description,
    inputSchema: JSON.parse(JSON.stringify(inputSchema)) as JsonObject,
    readOnly: annotations?.readOnlyHint ?? false,
    idempotent: annotations?.idempotentHint ?? false,
  }
}

async function callOn(connection: Connection, call: McpCall, timeout: number): Promise<Json> {
  const { tool, input, idempotencyKey, signal, onProgress, onQuestion } = call
  const given = new AbortController()
  const givenUp: { why?: unknown } = {}
  const before = connection.onQuestion
  connection.onQuestion = async (question) => {
    try {
      return onQuestion(question)
    } catch (error) {
      givenUp.why = error
      given.abort(error)
      return { action: 'decline' }
    }
  }
  try {
    const result = await connection.client.callTool(
      {
        name: tool.name,
        arguments: { ...input },
        _meta: { 'lull/idempotencyKey': idempotencyKey },
      },
      {
        signal: AbortSignal.any([signal, given.signal]),
        timeout,
        resetTimeoutOnProgress: true,
        onprogress: ({ progress, total, message }) =>
          onProgress(
            total === undefined || total === 0 ? 0 : Math.min(progress / total, 1),
            message,
          ),
      },
    )
    if (givenUp.why !== undefined) throw givenUp.why
    return resultOf(result)
  } catch (error) {
    throw givenUp.why ?? error
  } finally {
    connection.onQuestion = before
  }
}

interface CallResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

function resultOf({ content, structuredContent, isError }: CallResult): Json {
  const blocks = JSON.parse(JSON.stringify(content ?? [])) as readonly JsonObject[]
  const text = blocks.map((block) => (block['type'] === 'text' ? block['text'] : '')).join('\n')
  if (isError) throw new Error(text === '' ? 'the tool failed' : text)
  if (structuredContent !== undefined) return JSON.parse(JSON.stringify(structuredContent)) as Json
  return blocks.every(({ type }) => type === 'text') ? text : [...blocks]
}
