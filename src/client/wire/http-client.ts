/** Sends one request with headers and credentials, and converts failures to `ClientError`. */
import { ClientError, unreachable } from '../client-error.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The request that needs credentials. */
export interface HeaderRequest {
  readonly url: string
  /** The last answer was 401: the credentials that were sent are not valid any more. */
  readonly refused: boolean
}

export type HeaderSource =
  | Readonly<Record<string, string>>
  | ((
      request: HeaderRequest,
    ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)

/** How requests are made. */
export interface ConnectionOptions {
  /** Credentials for every request. A function is called for each request, and again after a 401. */
  readonly headers?: HeaderSource | undefined
  readonly fetch?: Fetch | undefined
  /** A stream without data for this long is closed and continued. Default 60,000; Lull sends a heartbeat every 15 s. */
  readonly idleMs?: number | undefined
}

export interface HttpRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface HttpClient {
  send(request: HttpRequest): Promise<Response>
  /** The body as text. */
  textOf(url: string, response: Response, signal?: AbortSignal): Promise<string>
}

/** Reads the global at each call: browsers require the call on the window, and programs may replace it. */
const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init)

export function createHttpClient(
  fetch: Fetch = globalFetch,
  source: HeaderSource = {},
): HttpClient {
  async function sendOnce(request: HttpRequest, refused: boolean): Promise<Response> {
    const { url, method, headers, body, signal } = request
    const credentials = typeof source === 'function' ? await source({ url, refused }) : source
    signal?.throwIfAborted()
    try {
      return await fetch(url, {
        method,
        headers: { ...headers, ...credentials },
        // Credentials must not be sent to the target of a redirect.
        redirect: 'error',
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw unreachable(url, error)
    }
  }

  return {
    async send(request) {
      const response = await sendOnce(request, false)
      if (response.status !== 401 || typeof source !== 'function') return response
      await response.body?.cancel()
      return sendOnce(request, true)
    },
    async textOf(url, response, signal) {
      try {
        return await response.text()
      } catch (error) {
        signal?.throwIfAborted()
        throw error instanceof ClientError ? error : unreachable(url, error)
      }
    },
  }
}
