/**
 * The ACP adapter: serves the engine's tasks to editors over a pair of streams, HTTP or WebSocket.
 *
 *   const acp = createAcp({ engine, store, clock, ids, log, agentInfo, cwd })
 *   acp.connect(stream, { caller })                        // one client, until its stream ends
 *   const response = await acp.fetch(request, { caller })  // any request to the address of the adapter
 *   acp.upgrade({ caller })?.accept(webSocket)             // a WebSocket that the server accepted
 *   await acp.close()                                      // before engine.drain()
 *
 * The server that mounts the adapter checks Host, Origin and the size of the body, and authenticates the caller.
 */

import type { AgentConnector, AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Caller } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { offersOfAny } from './capabilities.ts'
import { createConnection } from './connection/connection.ts'
import {
  type AcpConfig,
  type AcpContext,
  type AcpStore,
  defaultConfig,
} from './connection/context.ts'
import { createTraces } from './connection/traces.ts'
import { createV1 } from './connection/v1.ts'
import { createOpenPrompts } from './prompts/open-prompts.ts'
import { createWaitingReminders } from './reminders/session-reminders.ts'
import { createFacts } from './render/facts.ts'
import { createQueues } from './sessions/queues.ts'
import { createSessions, createWatching } from './sessions/sessions.ts'
import { type AcpUpgrade, createHttpTransport } from './transports/http.ts'
import { noLimits, type SocketLimits } from './transports/socket-stream.ts'

export interface AcpOptions extends Pick<EngineDeps, 'clock' | 'ids' | 'log' | 'tracing'> {
  readonly engine: Engine
  /** The store of the engine. */
  readonly store: AcpStore
  /** The name and version of the agent that clients see. */
  readonly agentInfo: { readonly name: string; readonly version: string }
  /** The working directory of sessions that no client opened. */
  readonly cwd: string
  readonly config?: Partial<AcpConfig>
}

/** The caller of a connection, who owns all its sessions and tasks. */
export interface AcpEnv {
  readonly caller: Caller
}

/** The caller of a WebSocket. */
export interface AcpSocketEnv extends AcpEnv {
  /**
   * Limits on what the caller may send and keep in memory. Absent: only the limits of a single
   * socket apply.
   */
  readonly limits?: SocketLimits
}

export interface Acp {
  /** Serves one client until its stream ends. */
  connect(stream: Stream, env: AcpEnv): { readonly closed: Promise<void>; close(): void }
  /** Answers any HTTP request to the address of the adapter. */
  fetch(request: Request, env: AcpEnv): Promise<Response>
  /** Prepares a WebSocket. Undefined when there are too many connections. */
  upgrade(env: AcpSocketEnv): AcpUpgrade | undefined
  /** Ends every connection. Tasks are not touched. */
  close(): Promise<void>
}

export function createAcp(options: AcpOptions): Acp {
  const { engine, store, clock, ids, log, agentInfo, cwd } = options
  const config = { ...defaultConfig, ...options.config }
  const sessions = createSessions({ engine, store, clock, ids, cwd })
  const watching = createWatching(engine)
  const waiting = createWaitingReminders({ engine, store, sessions, watching, log })
  const acp: AcpContext = {
    engine,
    store,
    clock,
    ids,
    log,
    traces: createTraces(options.tracing),
    config,
    agentInfo,
    facts: createFacts(config.harnTunnel),
    sessions,
    promptQueues: createQueues(),
    sessionLocks: createQueues(),
    openPrompts: createOpenPrompts(),
    watching,
    waiting,
    offers: offersOfAny(engine.agents.values()),
  }
  const open = new Set<{ close(): void }>()
  waiting
    .start()
    .catch((error: unknown) =>
      log('error', 'reminders that wait for their task could not be read', { error }),
    )

  const connector = (caller: Caller): AgentConnector => ({
    connect(stream) {
      const connection = createConnection(acp, caller)
      const wire = route(stream, {
        v1: () => createV1(connection),
        v2: async () => (await import('./v2/app.ts')).createV2(connection),
      })
      open.add(wire)
      void wire.closed.finally(() => {
        open.delete(wire)
        connection.close()
      })
      return wire
    },
  })
  const http = createHttpTransport({
    connect: connector,
    clock,
    ids,
    connections: config.connections,
  })

  return {
    connect: (stream, { caller }) =>
      connector(caller).connect(stream) as ReturnType<Acp['connect']>,
    fetch: (request, { caller }) => http.fetch(request, caller),
    upgrade: ({ caller, limits = noLimits }) => http.upgrade(caller, limits),
    async close() {
      await http.close()
      for (const wire of open) wire.close()
      acp.watching.close()
    },
  }
}

/**
 * Chooses the protocol version by the first message of a client. The SDK's router is loaded only
 * for a client that supports more than version 1, because loading the schemas of version 2 doubles
 * the start time.
 */
interface Wire {
  readonly closed: Promise<void>
  close(): void
  /** Called by the SDK's server when `initialize` was answered. */
  startConnectHandlers(): void
}

interface Versions {
  readonly v1: () => AgentConnector
  readonly v2: () => Promise<AgentConnector>
}

function route(stream: Stream, versions: Versions): Wire {
  const reader = stream.readable.getReader()
  const { writable } = stream
  let close = (): void => void reader.cancel().catch(() => undefined)

  async function connect(): Promise<void> {
    const { value: first, done } = await reader.read()
    if (done) return
    const readable = again(first, reader)
    const connector = offersMore(first) ? await both(versions) : versions.v1()
    const wire = connector.connect({ readable, writable }) as Partial<Wire>
    if (wire.close !== undefined) close = wire.close.bind(wire)
    await wire.closed
  }

  return {
    closed: connect().catch(() => undefined),
    close: () => close(),
    startConnectHandlers: () => undefined,
  }
}

function offersMore(message: AnyMessage): boolean {
  if (!('method' in message) || message.method !== 'initialize') return false
  const { protocolVersion } = (message.params ?? {}) as { readonly protocolVersion?: unknown }
  return typeof protocolVersion === 'number' && protocolVersion > 1
}

async function both({ v1, v2 }: Versions): Promise<AgentConnector> {
  const { agentProtocolRouter } = await import('@agentclientprotocol/sdk/experimental/v2')
  return agentProtocolRouter()
    .withV1(v1())
    .withV2(await v2())
}

/** The stream with its first message put back. */
function again(
  first: AnyMessage,
  reader: ReadableStreamDefaultReader<AnyMessage>,
): ReadableStream<AnyMessage> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(first)
    },
    async pull(controller) {
      const { value, done } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
