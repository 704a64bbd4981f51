/**
 * The request and answer that protocols use. They have only the members protocols need, so a server on `node:http`, a fetch
 * handler and a test can implement them directly.
 */

import { eventStream, type FrameSource } from './event-stream.ts'

export interface HttpRequest {
  readonly method: string
  /** Without the query, not decoded. */
  readonly path: string
  /** The query with its question mark, or empty. */
  readonly search: string
  /** Empty when there is none. */
  readonly body: Uint8Array
  /** @param name in small letters */
  header(name: string): string | undefined
  /** Calls back when the client disconnects before it is answered. Returns a function that removes the callback. */
  onGone(left: () => void): () => void
  /** Told the name of the method that the request calls, for the server's spans. */
  calls?(method: string): void
}

export type HttpHeaders = Readonly<Record<string, string>>

/** The body is a whole text, absent, or a stream of events. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: HttpHeaders
  readonly body: string | FrameSource | undefined
}

export interface Address {
  readonly path: string
  readonly search: string
}

/** Path and query of an address, absolute or not. `new URL` would cost more than the rest of the routing. */
export function addressOf(url: string): Address {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return { path: '/', search: '' }
  const query = url.indexOf('?', start)
  if (query === -1) return { path: url.slice(start), search: '' }
  return { path: url.slice(start, query), search: url.slice(query) }
}

/** A request of the web platform. Reads the whole body. `signal` fires when the client goes away. */
export async function fromRequest(request: Request, signal?: AbortSignal): Promise<HttpRequest> {
  const body = new Uint8Array(await request.arrayBuffer())
  return {
    method: request.method,
    ...addressOf(request.url),
    body,
    header: (name) => request.headers.get(name) ?? undefined,
    onGone(left) {
      if (signal?.aborted) left()
      signal?.addEventListener('abort', left)
      return () => signal?.removeEventListener('abort', left)
    },
  }
}

export function toResponse({ status, headers, body }: HttpAnswer): Response {
  if (body === undefined) return new Response(null, { status, headers })
  return new Response(typeof body === 'string' ? body : eventStream(body), { status, headers })
}
