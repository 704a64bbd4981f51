/**
 * Serves Streamable HTTP, with the SDK's server, and WebSocket at one address. This file adds
 * limits: a connection belongs to the caller who opened it, the number of connections is bounded,
 * and an idle connection is closed.
 */

import type { AgentConnector } from '@agentclientprotocol/sdk'
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server'
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { isTooCostly } from '../../../http/strict-json.ts'
import { keyOf } from '../sessions/sessions.ts'
import { type AcpSocket, type SocketLimits, socketStream } from './socket-stream.ts'
import { createTurns } from './turns.ts'

/** A WebSocket that is about to be accepted. */
export interface AcpUpgrade {
  /** The value of the header `Acp-Connection-Id` in the answer. */
  readonly connectionId: string
  /** Takes over a socket of the package `ws`, or a compatible one. */
  accept(socket: AcpSocket): void
  reject(): void
}

export interface HttpTransport {
  fetch(request: Request, caller: Caller): Promise<Response>
  /**
   * Prepares a WebSocket connection. Undefined when there are too many, or the transport is closed.
   */
  upgrade(caller: Caller, limits: SocketLimits): AcpUpgrade | undefined
  close(): Promise<void>
}

export interface HttpDeps extends Pick<EngineDeps, 'clock' | 'ids'> {
  readonly connect: (caller: Caller) => AgentConnector
  /** The most connections of a principal (K1). */
  readonly connections: number
}

const CONNECTION_ID = 'acp-connection-id'
/**
 * Larger than the largest message, and small enough that a client that does not read costs little
 * memory.
 */
const BUFFERED_BYTES = 16 * 1024 * 1024

export function createHttpTransport({ connect, clock, ids, connections }: HttpDeps): HttpTransport {
  const server = new AcpServer({ agent: noAgent, maxBufferedBytes: BUFFERED_BYTES })
  const open = createOpenConnections(clock, connections, (id) => {
    const headers = { [CONNECTION_ID]: id }
    const request = new Request('http://lull/acp', { method: 'DELETE', headers })
    server.handleRequest(request).catch(() => undefined)
  })
  const turns = createTurns()
  let closed = false

  async function begin(request: Request, caller: Caller): Promise<Response> {
    if (closed) return text(503, 'Shutting down; try again later')
    const limit = open.limitReached(caller)
    if (limit !== undefined) return text(429, `The limit ${limit} is reached`, RETRY)
    const response = await server.handleRequest(request, { agent: connect(caller) })
    const id = response.headers.get(CONNECTION_ID)
    if (id !== null && !closed) open.add(id, caller)
    return response
  }

  return {
    async fetch(given, caller) {
      const request = await guardedRequest(given)
      if (request === undefined) return text(413, 'The message has too many values')
      const id = request.headers.get(CONNECTION_ID)
      if (id === null) return begin(request, caller)
      const connection = open.get(id)
      if (connection === undefined || ownerOf(connection.owner) !== ownerOf(caller)) {
        return text(404, 'Unknown Acp-Connection-Id')
      }
      const response = await server.handleRequest(request)
      if (request.method === 'DELETE' || response.status === 404) open.forget(id)
      else if (request.method !== 'GET') open.touch(id, connection)
      else if (response.body !== null && response.ok) {
        const ended = open.streamOpened(id, connection)
        return new Response(withEnd(response.body, ended), response)
      }
      return response
    },
    upgrade(caller, limits) {
      if (closed || open.limitReached(caller) !== undefined) return undefined
      const socketClosed = open.socketOpened(caller)
      return {
        connectionId: ids.uuid(),
        accept(socket) {
          socket.on('close', socketClosed)
          connect(caller).connect(socketStream(socket, { clock, turns, limits }))
        },
        reject: socketClosed,
      }
    },
    async close() {
      closed = true
      open.clear()
      await server.close()
    },
  }
}

/** A placeholder: the SDK requires an agent for the server, but each connection brings its own. */
const noAgent: AgentConnector = {
  connect() {
    throw new Error('a connection without a caller')
  },
}

function ownerOf(caller: Caller): string {
  return keyOf(caller, '')
}

const RETRY = { 'retry-after': '5' }

function text(status: number, words: string, headers: Record<string, string> = {}): Response {
  return new Response(words, { status, headers: { 'content-type': 'text/plain', ...headers } })
}

/** Calls `ended` once, when the stream ends or its reader cancels it. */
function withEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let over = false
  const end = (): void => {
    if (!over) ended()
    over = true
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await reader.read()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    cancel(reason) {
      end()
      return reader.cancel(reason)
    },
  })
}

/**
 * Tracks the open connections over HTTP, and counts WebSockets. A connection without streams and
 * requests expires.
 *
 * K1  A principal may have a limited number of connections, its tenant twice as many, and all
 *     tenants together four times as many. So one caller cannot use up the connections of others.
 */
interface OpenConnection {
  readonly owner: Caller
  /** The number of streams that the client reads. */
  streams: number
  cancelExpiry: () => void
}

const IDLE_MS = 300_000

/** @param most the most connections of a principal */
function createOpenConnections(
  clock: EngineDeps['clock'],
  most: number,
  expired: (id: string) => void,
) {
  const open = new Map<string, OpenConnection>()
  const counts = new Map<string, number>()

  function count(owner: Caller, by: 1 | -1): void {
    for (const [, key] of countersOf(owner)) {
      const left = (counts.get(key) ?? 0) + by
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    }
  }

  /** The limit that another connection of the caller would exceed, if any. */
  function limitReached(caller: Caller): string | undefined {
    const found = countersOf(caller).find(
      ([, key, factor]) => (counts.get(key) ?? 0) >= most * factor,
    )
    return found && `acp.connections of the ${found[0]} (${most * found[2]})`
  }

  /** Called with each request: restarts the time until the connection expires. */
  function touch(id: string, connection: OpenConnection): void {
    connection.cancelExpiry()
    if (connection.streams > 0) return
    connection.cancelExpiry = clock.after(IDLE_MS, () => {
      forget(id)
      expired(id)
    })
  }

  function forget(id: string): void {
    const known = open.get(id)
    if (known === undefined) return
    known.cancelExpiry()
    open.delete(id)
    count(known.owner, -1)
  }

  return {
    limitReached,
    add(id: string, owner: Caller): void {
      count(owner, 1)
      const connection: OpenConnection = { owner, streams: 0, cancelExpiry: () => undefined }
      open.set(id, connection)
      touch(id, connection)
    },
    get: (id: string): OpenConnection | undefined => open.get(id),
    touch,
    /** @returns a function to call when the stream ends */
    streamOpened(id: string, connection: OpenConnection): () => void {
      connection.streams++
      connection.cancelExpiry()
      return () => {
        connection.streams--
        if (open.get(id) === connection) touch(id, connection)
      }
    },
    /** @returns a function to call when the socket closes; calling it again does nothing */
    socketOpened(owner: Caller): () => void {
      count(owner, 1)
      let counted = true
      return () => {
        if (counted) count(owner, -1)
        counted = false
      }
    },
    forget,
    clear(): void {
      for (const id of [...open.keys()]) forget(id)
    },
  }
}

/** What a connection counts for: a name, a key, and how many times the connections of a principal it may have. */
type Counter = readonly [of: string, key: string, factor: number]

function countersOf({ tenant, principal }: Caller): readonly Counter[] {
  return [
    ['principal', JSON.stringify([tenant, principal]), 1],
    ['tenant', JSON.stringify([tenant]), 2],
    ['server', '', 4],
  ]
}

/**
 * The request with its body already read. Undefined if the body has too many values: the SDK would
 * parse and validate millions of values at once, and block the event loop for seconds.
 */
async function guardedRequest(request: Request): Promise<Request | undefined> {
  if (request.method !== 'POST') return request
  const body = await request.text()
  if (isTooCostly(body)) return undefined
  const { url, method, headers } = request
  return new Request(url, { method, headers, body })
}
