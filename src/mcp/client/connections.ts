/**
 * Connections to MCP servers, opened by the first call and closed when no call has used them for a while. A server over HTTP
 * has a connection for each call that runs at the same time. A server over stdio is one process, whose calls take turns.
 *
 * Invariants (mcp-client.test.ts, ai/agent/mcp-tools.test.ts):
 *  K1  a connection that closed is not used again, and the next call opens another;
 *  K2  a request that the server cannot have begun is sent once more on a new connection; any other request only if the
 *      caller says that it may be repeated;
 *  K3  an unused connection does not keep the process alive;
 *  K4  a connection has at most one call that can be asked a question, because a question does not name its call.
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
  /** Answers questions of the server that are asked during a call (K4). */
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
  /** The calls that have their turn or wait for it, and the end of the last of them. */
  turns: number
  lastTurn: Promise<unknown>
}

export interface Use {
  readonly server: string
  /** Whether a request that the server may have begun can be sent again (K2). */
  readonly mayRepeat: boolean
  /** For a call that can be asked a question: what ends its waiting for its turn (K4). */
  readonly turn?: AbortSignal
}

type Work<T> = (connection: Connection) => Promise<T>

/** One for each agent. */
export class McpConnections {
  readonly #servers: Readonly<Record<string, McpServer>>
  readonly #kept = new Map<string, Set<Kept>>()

  constructor(servers: Readonly<Record<string, McpServer>>) {
    this.#servers = servers
  }

  async use<T>(use: Use, work: Work<T>): Promise<T> {
    try {
      return await this.#once(use, work)
    } catch (error) {
      if (!isNotBegun(error) && !(use.mayRepeat && isLost(error))) throw error
      return this.#once(use, work)
    }
  }

  async #once<T>(use: Use, work: Work<T>): Promise<T> {
    const kept = this.#choose(use) ?? this.#open(use.server)
    kept.calls++
    clearTimeout(kept.closing)
    const run = async (): Promise<T> => work(await kept.opened)
    try {
      return await (use.turn === undefined ? run() : inTurn(kept, use.turn, run))
    } catch (error) {
      if (isNotBegun(error) || isLost(error)) this.#forget(use.server, kept)
      throw error
    } finally {
      kept.calls--
      if (kept.calls === 0)
        kept.closing = setTimeout(() => this.#close(use.server, kept), IDLE_MS).unref()
    }
  }

  #choose({ server, turn }: Use): Kept | undefined {
    const kept = [...(this.#kept.get(server) ?? [])]
    const config = this.#servers[server]
    const takesTurns = config !== undefined && !('url' in config)
    return turn === undefined || takesTurns ? kept[0] : kept.find(({ turns }) => turns === 0)
  }

  #open(name: string): Kept {
    const server = this.#servers[name]
    if (server === undefined) throw new Error(`there is no MCP server "${name}"`)
    const forget = (): void => this.#forget(name, kept)
    const opened = connect(server, forget)
    opened.catch(forget)
    const lastTurn = Promise.resolve()
    const kept: Kept = { opened, calls: 0, closing: undefined, turns: 0, lastTurn }
    this.#kept.set(name, (this.#kept.get(name) ?? new Set()).add(kept))
    return kept
  }

  #forget(name: string, kept: Kept): void {
    this.#kept.get(name)?.delete(kept)
  }

  #close(name: string, kept: Kept): void {
    this.#forget(name, kept)
    kept.opened.then(({ client }) => client.close()).catch(() => undefined)
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const kept = [...this.#kept.values()].flatMap((ofServer) => [...ofServer])
    this.#kept.clear()
    for (const { closing } of kept) clearTimeout(closing)
    await Promise.allSettled(kept.map(async ({ opened }) => (await opened).client.close()))
  }
}

/** Runs the call when those before it have ended (K4). A call that is given up while it waits leaves the order as it is. */
async function inTurn<T>(kept: Kept, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const before = kept.lastTurn
  const end = new AbortController()
  kept.lastTurn = Promise.all([before, aborted(end.signal)])
  kept.turns++
  try {
    await Promise.race([before, aborted(AbortSignal.any([signal, end.signal]))])
    signal.throwIfAborted()
    return await run()
  } finally {
    kept.turns--
    end.abort()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
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
