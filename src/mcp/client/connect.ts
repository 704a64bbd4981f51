/** Connects to an MCP server, over HTTP or by starting its process. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { killAtExit } from './child-process.ts'
import type { McpHttpServer, McpServer, McpStdioServer } from './server-config.ts'
import { createStderrLog } from './stderr-log.ts'

export type McpLog = (level: 'debug' | 'warn', text: string, facts: object) => void

export interface ServerQuestion {
  readonly message: string
  readonly schema: unknown
}

export type QuestionAnswer =
  | {
      readonly action: 'accept'
      readonly content: Record<string, string | number | boolean | string[]>
    }
  | { readonly action: 'decline' }

export interface Connection {
  readonly client: Client
  /** Answers questions of the server that are asked during a call. */
  onQuestion: (question: ServerQuestion) => Promise<QuestionAnswer>
}

export interface Connecting {
  /** The name of the server, for the log. */
  readonly name: string
  readonly log: McpLog
  /** Called when the connection has ended, whichever side ended it. */
  readonly onClose: () => void
}

export interface Opening {
  readonly opened: Promise<Connection>
  /** Closes the connection, even while it is being opened. */
  close(): Promise<void>
}

export function connect(server: McpServer, connecting: Connecting): Opening {
  const client = new Client(
    { name: 'lull', version: '0.1.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  )
  const connection: Connection = { client, onQuestion: async () => ({ action: 'decline' }) }
  // Errors of a request are passed to its caller. After any other error the connection closes.
  client.onerror = () => undefined
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if ('url' in params) return { action: 'decline' }
    return connection.onQuestion({ message: params.message, schema: params.requestedSchema })
  })
  return 'url' in server
    ? overHttp(server, connection, connecting)
    : overStdio(server, connection, connecting)
}

function overHttp(
  { url, headers }: McpHttpServer,
  connection: Connection,
  { onClose }: Connecting,
): Opening {
  const { client } = connection
  const requestInit = headers === undefined ? {} : { requestInit: { headers: { ...headers } } }
  const transport = new StreamableHTTPClientTransport(new URL(url), requestInit)
  client.onclose = onClose
  return {
    opened: client.connect(transport).then(() => connection),
    close: () => client.close(),
  }
}

function overStdio(
  { command, args = [], env, cwd }: McpStdioServer,
  connection: Connection,
  { name, log, onClose }: Connecting,
): Opening {
  const { client } = connection
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(cwd === undefined ? {} : { cwd }),
  })
  const stderr = createStderrLog((line) => log('debug', line, { mcp: name }))
  transport.stderr?.on('data', (piece: Buffer) => stderr.add(piece.toString()))
  let isWanted = true
  let isConnected = false
  const unwantedEnd = (text: string): void => {
    if (isWanted) log('warn', text, { mcp: name, stderr: stderr.last() })
  }
  const watched = killAtExit(transport)
  client.onclose = () => {
    if (isConnected) unwantedEnd('an MCP server ended')
    onClose()
  }
  async function open(): Promise<Connection> {
    try {
      await client.connect(transport)
      isConnected = true
      watched.connected()
      return connection
    } catch (error) {
      watched.forget()
      unwantedEnd('an MCP server did not start')
      throw error
    }
  }
  return {
    opened: open(),
    async close() {
      isWanted = false
      await client.close()
      await transport.close()
    },
  }
}
