/**
 * Connections to MCP servers: one per server, opened by the first call and closed when no call has used it for a while.
 *
 * Invariants (mcp-client.test.ts):
 *  K1  a connection that closed is not used again, and the next call opens another;
 *  K2  a request that the server cannot have begun is sent once more on a new connection; any other request only if the
 *      caller says that it may be repeated;
 *  K3  an unused connection does not keep the process alive.
 */
import {
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpServer } from './server-config.ts'

const IDLE_MS = 60_000

export interface Connection {
  readonly client: Client
  /** Answers questions of the server that are asked during a call. */
  onQuestion: (question: ServerQuestion) => Promise<QuestionAnswer>
}

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

interface Kept {
  readonly opened: Promise<Connection>
  calls: number
  closing: NodeJS.Timeout | undefined
}

/** One for each agent. */
export class McpConnections {
  readonly #servers: Readonly<Record<string, McpServer>>
  readonly #kept = new Map<string, Kept>()

  constructor(servers: Readonly<Record<string, McpServer>>) {
    this.#servers = servers
  }

  /** @param mayRepeat whether a request that the server may have begun can be sent again (K2) */
  async use<T>(
    name: string,
    mayRepeat: boolean,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#once(name, work)
    } catch (error) {
      if (!isNotBegun(error) && !(mayRepeat && isLost(error))) throw error
      this.#kept.delete(name)
      return this.#once(name, work)
    }
  }

  async #once<T>(name: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const kept = this.#kept.get(name) ?? this.#open(name)
    kept.calls++
    clearTimeout(kept.closing)
    try {
      return await work(await kept.opened)
    } finally {
      kept.calls--
      if (kept.calls === 0)
        kept.closing = setTimeout(() => this.#close(name, kept), IDLE_MS).unref()
    }
  }

  #open(name: string): Kept {
    const server = this.#servers[name]
    if (server === undefined) throw new Error(`there is no MCP server "${name}"`)
    const forget = (): void => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name)
    }
    const opened = connect(server, forget)
    opened.catch(forget)
    const kept: Kept = { opened, calls: 0, closing: undefined }
    this.#kept.set(name, kept)
    return kept
  }

  #close(name: string, kept: Kept): void {
    if (this.#kept.get(name) === kept) this.#kept.delete(name)
    kept.opened.then(({ client }) => client.close()).catch(() => undefined)
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const kept = [...this.#kept.values()]
    this.#kept.clear()
    for (const { closing } of kept) clearTimeout(closing)
    await Promise.allSettled(kept.map(async ({ opened }) => (await opened).client.close()))
  }
}

async function connect(server: McpServer, closed: () => void): Promise<Connection> {
  const client = new Client(
    { name: 'lull', version: '0.1.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  )
  const connection: Connection = { client, onQuestion: async () => ({ action: 'decline' }) }
  client.onclose = closed
  // Errors of a request reach its caller. Others are followed by a close.
  client.onerror = () => undefined
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if ('url' in params) return { action: 'decline' }
    return connection.onQuestion({ message: params.message, schema: params.requestedSchema })
  })
  await client.connect(transportTo(server))
  return connection
}

function transportTo(server: McpServer): StdioClientTransport | StreamableHTTPClientTransport {
  if ('url' in server) {
    const { url, headers } = server
    const requestInit = headers === undefined ? {} : { requestInit: { headers: { ...headers } } }
    return new StreamableHTTPClientTransport(new URL(url), requestInit)
  }
  const { command, args = [], env, cwd } = server
  return new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'ignore',
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(cwd === undefined ? {} : { cwd }),
  })
}

const notBegun: ReadonlySet<string> = new Set<string>([
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
])

/** Whether the server cannot have begun the request: it was not sent, or its session is gone. */
function isNotBegun(error: unknown): boolean {
  if (!(error instanceof SdkError)) return false
  return notBegun.has(error.code) || ('status' in error && error.status === 404)
}

function isLost(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
}
