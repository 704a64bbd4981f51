/** Requests to `/ops`, and how refusals are read. */
import { ClientError } from './client-error.ts'
import { type ConnectionOptions, ownFetch } from './create-client.ts'
import { refusalIn, refusalOfStatus } from './wire/error-format.ts'
import { chunksOf, readEvents } from './wire/event-reader.ts'
import { createHttp, type HttpRequest } from './wire/http-client.ts'
import { isObject, objectIn } from './wire/json-members.ts'

export interface OpsOptions extends ConnectionOptions {
  /** The address of the server, or of an agent on it. */
  readonly url: string
  /** Default: the tenant of the credential. `*` means all tenants. */
  readonly tenant?: string | undefined
}

export interface OpsCalls {
  urlOf(path: string, query?: readonly (readonly [string, string])[]): string
  /** @throws ClientError */
  call<T>(method: HttpRequest['method'], url: string, body?: object): Promise<T>
  /** Sends the values as JSON Lines. @throws ClientError */
  sendLines<T>(url: string, values: readonly object[]): Promise<T>
  events<T>(url: string, signal: AbortSignal): AsyncGenerator<T, void>
}

export function createOpsCalls(options: OpsOptions): OpsCalls {
  const { tenant, idleMs = 60_000 } = options
  const server = options.url.replace(/\/+$/, '').replace(/\/agents\/[^/]+$/, '')
  const http = createHttp(options.fetch ?? ownFetch, options.headers)

  function urlOf(path: string, query: readonly (readonly [string, string])[] = []): string {
    const all = new URLSearchParams()
    for (const [name, value] of query) all.append(name, value)
    if (tenant !== undefined) all.set('tenant', tenant)
    const text = all.toString()
    return `${server}/ops/${path}${text === '' ? '' : `?${text}`}`
  }

  function call<T>(method: HttpRequest['method'], url: string, body?: object): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return sendText(method, url, 'application/json', text)
  }

  function sendLines<T>(url: string, values: readonly object[]): Promise<T> {
    const lines = values.map((value) => `${JSON.stringify(value)}\n`)
    return sendText('POST', url, 'application/x-ndjson', lines.join(''))
  }

  async function sendText<T>(
    method: HttpRequest['method'],
    url: string,
    contentType: string,
    body: string | undefined,
  ): Promise<T> {
    const headers = { accept: 'application/json', 'content-type': contentType }
    const response = await http.send({ url, method, headers, body })
    const answer = parsed(await http.textOf(url, response))
    if (response.ok && isObject(answer)) return answer as T
    throw refused(url, response.status, answer)
  }

  async function* events<T>(url: string, signal: AbortSignal): AsyncGenerator<T, void> {
    const headers = { accept: 'text/event-stream' }
    const response = await http.send({ url, method: 'GET', headers, signal })
    if (!response.ok || response.body === null) {
      throw refused(url, response.status, parsed(await http.textOf(url, response)))
    }
    for await (const { data } of readEvents(chunksOf(response.body, idleMs, signal))) {
      yield JSON.parse(data) as T
    }
  }

  return { urlOf, call, sendLines, events }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refused(url: string, status: number, answer: unknown): ClientError {
  const error = objectIn(answer, 'error')
  if (error !== undefined) return refusalIn(error, status)
  const message = `${url} has no /ops (HTTP ${status}); give the address of a Lull server`
  return (
    refusalOfStatus(status) ??
    new ClientError('unreachable', message, { reason: 'NOT_LULL', status })
  )
}
