/** Connects to an MCP server, over HTTP or by starting its process. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpHttpServer, McpServer, McpStdioServer } from './server-config.ts'

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

/**
 * Logs what an MCP server prints on stderr, line by line. The number of lines is limited, so
 * endless output is cheap.
 */
interface StderrLog {
  add(text: string): void
  /** The last lines, for the report when the server ends. */
  last(): readonly string[]
}

const LINE_LENGTH = 1_000
const LOGGED_LINES = 1_000
const KEPT_LINES = 10

/** @param write called for the first 1,000 lines, each cut to 1,000 characters */
export function createStderrLog(write: (line: string) => void): StderrLog {
  const last: string[] = []
  let begun = ''
  let lines = 0

  function end(): void {
    lines++
    last.push(begun)
    if (last.length > KEPT_LINES) last.shift()
    if (lines < LOGGED_LINES) write(begun)
    if (lines === LOGGED_LINES) write('(further lines are not logged)')
    begun = ''
  }

  return {
    add(text) {
      for (const [at, piece] of text.split('\n').entries()) {
        if (at > 0) end()
        begun = (begun + piece).slice(0, LINE_LENGTH)
      }
    },
    last: () => (begun === '' ? last : [...last, begun]),
  }
}

/**
 * A transport that starts a process. Its `pid` becomes null when it begins to close; at the end it
 * calls `onclose`.
 */
interface Starting {
  readonly pid: number | null
  onclose?: (() => void) | undefined
}

const running = new Set<() => number | null>()

interface Watched {
  /** Must be called when the transport is connected. */
  connected(): void
  /**
   * Must be called when the transport is closed, or when it could not start: in that case it does
   * not call `onclose`.
   */
  forget(): void
}

/**
 * Kills the process of an MCP server if it has not ended when this process exits.
 * @param transport a transport that is not connected yet
 */
function killAtExit(transport: Starting): Watched {
  let known: number | null = null
  const pidOf = (): number | null => known ?? transport.pid
  if (running.size === 0) process.on('exit', killAll)
  running.add(pidOf)
  const forget = (): void => {
    running.delete(pidOf)
    if (running.size === 0) process.off('exit', killAll)
  }
  transport.onclose = forget
  return {
    connected() {
      known = transport.pid
    },
    forget,
  }
}

function killAll(): void {
  for (const pidOf of running) {
    const pid = pidOf()
    try {
      if (pid !== null) process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended meanwhile.
    }
  }
}
