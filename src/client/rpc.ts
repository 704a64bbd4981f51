/** JSON-RPC over HTTP, answers and streams. Knows no method. */
import { RefusedError, UnreachableError, unreachable } from './client-error.ts'
import { readEvents } from './event-reader.ts'
import { extensions } from './wire-task.ts'

export interface RpcOptions {
  readonly signal?: AbortSignal | undefined
  /** Continue a stream after this event. */
  readonly lastEventId?: string | undefined
}

/** A frame with the id to continue after it. */
export interface Framed {
  readonly id: string
  readonly result: unknown
}

export interface Rpc {
  call(method: string, params: object, options?: RpcOptions): Promise<unknown>
  stream(method: string, params: object, options?: RpcOptions): AsyncGenerator<Framed, void>
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export function createRpc(url: string, fetch: Fetch): Rpc {
  async function post(method: string, params: object, options: RpcOptions): Promise<Response> {
    const { signal, lastEventId } = options
    try {
      return await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'a2a-version': '1.0',
          'a2a-extensions': extensions.join(','),
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      throw unreachable(url, error)
    }
  }

  return {
    async call(method, params, options = {}) {
      return resultIn(url, await textOf(url, await post(method, params, options)))
    },
    async *stream(method, params, options = {}) {
      const response = await post(method, params, options)
      if (!isStream(response) || response.body === null) {
        // Refused before it began, or a server that answers with a single result.
        yield { id: '', result: resultIn(url, await textOf(url, response)) }
        return
      }
      try {
        for await (const { id, data } of readEvents(response.body as AsyncIterable<Uint8Array>)) {
          yield { id, result: resultIn(url, data) }
        }
      } catch (error) {
        throw error instanceof RefusedError ? error : unreachable(url, error)
      }
    },
  }
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

async function textOf(url: string, response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw unreachable(url, error)
  }
}

interface Answer {
  readonly result?: unknown
  readonly error?: {
    readonly code: number | string
    readonly message: string
    readonly data?: unknown
  }
}

function resultIn(url: string, text: string): unknown {
  const { result, error } = answerIn(url, text)
  if (error === undefined) return result
  // Outside JSON-RPC our own server answers `{error: {code, message}}` with a word as the code.
  if (typeof error.code === 'string') throw new RefusedError(0, error.message, error.code)
  throw new RefusedError(error.code, error.message, reasonIn(error.data))
}

function answerIn(url: string, text: string): Answer {
  try {
    const answer: unknown = JSON.parse(text)
    if (isAnswer(answer)) return answer
  } catch {
    // Falls through: whatever it is, it is no JSON-RPC.
  }
  throw new UnreachableError(`${url} does not answer like an A2A agent`)
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null) return false
  return 'result' in value || 'error' in value
}

/** In 1.0 the reason stands in the first `ErrorInfo`. */
function reasonIn(data: unknown): string | undefined {
  const [first]: unknown[] = Array.isArray(data) ? data : [data]
  const reason =
    typeof first === 'object' && first !== null && 'reason' in first ? first.reason : undefined
  return typeof reason === 'string' ? reason : undefined
}
