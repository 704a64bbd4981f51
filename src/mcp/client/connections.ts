/**
 * Connections to MCP servers, opened by the first call and closed when no call has used them for a
 * while. A server over HTTP gets one connection per simultaneous call. A server over stdio is one
 * process, whose calls take turns.
 *
 * Invariants (mcp-client.test.ts, child-process.test.ts, ai/agent/mcp-tools.test.ts):
 *  K1  a connection that closed is not used again, and the next call opens another;
 *  K2  a request that the server certainly has not begun is sent once more on a new connection; any
 *      other request only if the caller allows a repetition;
 *  K3  a connection is closed when it was not used for a minute, and when the engine is closed; the
 *      process of a stdio server does not outlive this one;
 *  K4  a connection has at most one call that can be asked a question, because a question does not name its call.
 */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { type Connection, connect, type McpLog, type Opening } from './connect.ts'
import type { McpServer } from './server-config.ts'

const IDLE_MS = 60_000

interface Kept extends Opening {
  /**
   * The log of the call that used the connection last, so that output of the server is logged with
   * its task.
   */
  log: McpLog
  calls: number
  closing: NodeJS.Timeout | undefined
  /** The number of calls that use the connection or wait for it. */
  turns: number
  lastTurn: Promise<unknown>
}

export interface Use {
  readonly server: string
  readonly log: McpLog
  /** Whether a request that the server may have begun can be sent again (K2). */
  readonly mayRepeat: boolean
  /**
   * For a call during which questions may be asked: aborts when it no longer waits for its turn
   * (K4).
   */
  readonly turn?: AbortSignal
}

type Work<T> = (connection: Connection) => Promise<T>

/** All connections of one agent. */
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
    const kept = this.#choose(use) ?? this.#open(use)
    kept.log = use.log
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

  #open({ server: name, log }: Use): Kept {
    const server = this.#servers[name]
    if (server === undefined) throw new Error(`there is no MCP server "${name}"`)
    const onClose = (): void => this.#forget(name, kept)
    const lastLog: McpLog = (...line) => kept.log(...line)
    const opening = connect(server, { name, log: lastLog, onClose })
    opening.opened.catch(onClose)
    const lastTurn = Promise.resolve()
    const kept: Kept = { ...opening, log, calls: 0, closing: undefined, turns: 0, lastTurn }
    this.#kept.set(name, (this.#kept.get(name) ?? new Set()).add(kept))
    return kept
  }

  #forget(name: string, kept: Kept): void {
    this.#kept.get(name)?.delete(kept)
  }

  #close(name: string, kept: Kept): void {
    this.#forget(name, kept)
    kept.close().catch(() => undefined)
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const kept = [...this.#kept.values()].flatMap((ofServer) => [...ofServer])
    this.#kept.clear()
    for (const { closing } of kept) clearTimeout(closing)
    await Promise.allSettled(kept.map((one) => one.close()))
  }
}

/**
 * Runs the call when those before it have ended (K4). A call that is given up while it waits does
 * not change the order of the others.
 */
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

const notBegun: ReadonlySet<string> = new Set<string>([
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
])

/**
 * Whether the server certainly has not begun the request: it was not sent, or its session no longer
 * exists.
 */
function isNotBegun(error: unknown): boolean {
  if (!(error instanceof SdkError)) return false
  return notBegun.has(error.code) || ('status' in error && error.status === 404)
}

function isLost(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
}
