/** Converts requests and answers from and to the types of the web platform. */
import { eventStream } from './event-stream.ts'
import { addressOf, type HttpAnswer, type HttpRequest } from './http.ts'

/** Reads the whole body. `signal` fires when the client goes away. */
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
