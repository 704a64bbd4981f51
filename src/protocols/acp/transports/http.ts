/**
 * Streamable HTTP and WebSocket at one address, by the SDK's server. Beyond what that does: a connection belongs to the
 * caller who opened it, their number is bounded, and one that nobody listens to or speaks on for a while is closed,
 * because a client that has gone says nothing.
 */
import type { AgentConnector } from '@agentclientprotocol/sdk'
import {
  AcpServer,
  type PreparedWebSocketUpgrade,
} from '@agentclientprotocol/sdk/experimental/server'
import type { Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { keyOf } from '../sessions/sessions.ts'

export interface HttpTransport {
  fetch(request: Request, caller: Caller): Promise<Response>
  /** For whoever has accepted a WebSocket. Undefined: there are too many, or it is closed. */
  upgrade(caller: Caller): PreparedWebSocketUpgrade | undefined
  close(): Promise<void>
}

export interface HttpDeps extends Pick<EngineDeps, 'clock'> {
  readonly connect: (caller: Caller) => AgentConnector
}

const CONNECTION_ID = 'acp-connection-id'
const MOST = 1_000
const IDLE_MS = 300_000
/** More than one message may have, and not so much that a client who does not read costs a lot. */
const BUFFERED_BYTES = 16 * 1024 * 1024

interface Open {
  readonly owner: string
  /** Streams the client listens on. */
  streams: number
  expire: () => void
}

export function createHttpTransport({ connect, clock }: HttpDeps): HttpTransport {
  const nobody: AgentConnector = {
    connect() {
      throw new Error('a connection without a caller')
    },
  }
  const server = new AcpServer({ agent: nobody, maxBufferedBytes: BUFFERED_BYTES })
  const open = new Map<string, Open>()
  let sockets = 0
  let closed = false

  function rest(id: string, mine: Open): void {
    mine.expire()
    if (mine.streams > 0) return
    mine.expire = clock.after(IDLE_MS, () => {
      forget(id)
      const headers = { [CONNECTION_ID]: id }
      const request = new Request('http://lull/acp', { method: 'DELETE', headers })
      server.handleRequest(request).catch(() => undefined)
    })
  }

  function forget(id: string): void {
    open.get(id)?.expire()
    open.delete(id)
  }

  /** The stream is open as long as its client reads. */
  function listening(response: Response, id: string, mine: Open): Response {
    if (response.body === null || !response.ok) return response
    mine.streams++
    mine.expire()
    const closed = (): void => {
      mine.streams--
      if (open.get(id) === mine) rest(id, mine)
    }
    return new Response(watched(response.body, closed), response)
  }

  async function begin(request: Request, caller: Caller): Promise<Response> {
    if (closed) return text(503, 'Shutting down; try again later')
    if (open.size + sockets >= MOST) return text(503, 'Too many connections; try again later')
    const response = await server.handleRequest(request, { agent: connect(caller) })
    const id = response.headers.get(CONNECTION_ID)
    if (id === null || closed) return response
    const mine: Open = { owner: ownerOf(caller), streams: 0, expire: () => undefined }
    open.set(id, mine)
    rest(id, mine)
    return response
  }

  return {
    async fetch(request, caller) {
      const id = request.headers.get(CONNECTION_ID)
      if (id === null) return begin(request, caller)
      const mine = open.get(id)
      if (mine?.owner !== ownerOf(caller)) return text(404, 'Unknown Acp-Connection-Id')
      const response = await server.handleRequest(request)
      if (request.method === 'DELETE' || response.status === 404) forget(id)
      else if (request.method === 'GET') return listening(response, id, mine)
      else rest(id, mine)
      return response
    },
    upgrade(caller) {
      if (closed || open.size + sockets >= MOST) return undefined
      sockets++
      let counted = true
      const gone = (): void => {
        if (counted) sockets--
        counted = false
      }
      const prepared = server.prepareWebSocketUpgrade({ agent: connect(caller) })
      return {
        connectionId: prepared.connectionId,
        accept(socket) {
          socket.on?.('close', gone)
          prepared.accept(socket)
        },
        reject() {
          gone()
          prepared.reject()
        },
      }
    },
    async close() {
      closed = true
      for (const id of [...open.keys()]) forget(id)
      await server.close()
    },
  }
}

function ownerOf(caller: Caller): string {
  return keyOf(caller, '')
}

function text(status: number, words: string): Response {
  return new Response(words, { status, headers: { 'content-type': 'text/plain' } })
}

function watched(body: ReadableStream<Uint8Array>, closed: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let over = false
  const end = (): void => {
    if (!over) closed()
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
