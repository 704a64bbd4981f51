/** Calls to the routes of a Lull server outside A2A: `/ops`, and `/events` for external events. */
import type { CloudEvent } from '../core/waiting/cloud-event.ts'
import { ClientError } from './client-error.ts'
import { errorOfStatus, readError } from './wire/error-format.ts'
import { chunksOf, readEvents } from './wire/event-reader.ts'
import { type ConnectionOptions, createHttpClient, type HttpRequest } from './wire/http-client.ts'
import { isObject, parseJson, readNumber, readObject } from './wire/json-members.ts'

/** `duplicates`: events with a source and id that the server already had. They have no effect. */
export interface Emitted {
  readonly accepted: number
  readonly duplicates: number
  /** How many tasks the events woke. Absent where an older server does not say it. */
  readonly woken?: number
}

/** A CloudEvents 1.0 event, in structured mode. @param server the address of the server, or of an agent on it */
export async function emitEvent(
  server: string,
  event: CloudEvent,
  options: ConnectionOptions = {},
): Promise<Emitted> {
  const { send, urlOf } = createServerCalls(server, options, 'takes no events')
  const url = urlOf('events')
  const body = JSON.stringify({ specversion: '1.0', ...event })
  const answer = await send('POST', url, 'application/cloudevents+json', body)
  const [accepted, duplicates] = [readNumber(answer, 'accepted'), readNumber(answer, 'duplicates')]
  if (accepted === undefined || duplicates === undefined) throw notLull(`${url} takes no events`)
  const woken = readNumber(answer, 'woken')
  return { accepted, duplicates, ...(woken === undefined ? {} : { woken }) }
}

export type Query = readonly (readonly [string, string])[]

export interface ServerCalls {
  urlOf(path: string, query?: Query): string
  /** @returns the JSON object that the server answers with @throws ClientError */
  send<T>(
    method: HttpRequest['method'],
    url: string,
    contentType: string,
    body: string | undefined,
  ): Promise<T>
  /** As `send`, with a body of JSON. */
  call<T>(method: HttpRequest['method'], url: string, body?: object): Promise<T>
  /** The data of each server-sent event. @throws ClientError */
  events<T>(url: string, signal: AbortSignal): AsyncGenerator<T, void>
}

/** @param missing what an error says when the server does not know the route, such as `has no /ops` */
export function createServerCalls(
  address: string,
  options: ConnectionOptions,
  missing: string,
): ServerCalls {
  const { idleMs = 60_000 } = options
  const server = address.replace(/\/+$/, '').replace(/\/agents\/[^/]+$/, '')
  const http = createHttpClient(options.fetch, options.headers)

  function errorOf(url: string, status: number, answer: unknown): ClientError {
    const error = readObject(answer, 'error')
    if (error !== undefined) return readError(error, status)
    return errorOfStatus(status) ?? notLull(`${url} ${missing} (HTTP ${status})`, status)
  }

  async function send<T>(
    method: HttpRequest['method'],
    url: string,
    contentType: string,
    body: string | undefined,
  ): Promise<T> {
    const headers = { accept: 'application/json', 'content-type': contentType }
    const response = await http.send({ url, method, headers, body })
    const answer = parseJson(await http.textOf(url, response))
    if (response.ok && isObject(answer)) return answer as T
    throw errorOf(url, response.status, answer)
  }

  return {
    send,
    call: (method, url, body) =>
      send(method, url, 'application/json', body === undefined ? undefined : JSON.stringify(body)),
    urlOf(path, query = []) {
      const search = new URLSearchParams()
      for (const [name, value] of query) search.append(name, value)
      return `${server}/${path}${search.size === 0 ? '' : `?${search}`}`
    },
    async *events<T>(url: string, signal: AbortSignal) {
      const headers = { accept: 'text/event-stream' }
      const response = await http.send({ url, method: 'GET', headers, signal })
      if (!response.ok || response.body === null) {
        throw errorOf(url, response.status, parseJson(await http.textOf(url, response)))
      }
      for await (const { data } of readEvents(chunksOf(response.body, idleMs, signal))) {
        yield JSON.parse(data) as T
      }
    },
  }
}

function notLull(what: string, status?: number): ClientError {
  const message = `${what}; give the address of a Lull server`
  return new ClientError('unreachable', message, { reason: 'NOT_LULL', status })
}
