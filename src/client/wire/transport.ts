/** Sends calls over JSON-RPC or REST: a call with one answer, or a stream. */
import type { JsonObject } from '../../core/values/json.ts'
import {
  type ClientError,
  isClientError,
  notA2A,
  unreachable,
  unsupported,
} from '../client-error.ts'
import {
  type Binding,
  type Operation,
  REMINDERS,
  RFC_NOTIFICATIONS,
  TASK_CONTROL,
  USER_CONSENT,
  type Version,
} from './a2a-names.ts'
import { errorOfStatus, readControlError, readError } from './error-format.ts'
import { chunksOf, readEvents } from './event-reader.ts'
import type { HttpClient, HttpRequest } from './http-client.ts'
import { isObject, parseJson, readMember, readObject } from './json-members.ts'

export interface TransportOptions {
  readonly url: string
  readonly version: Version
  readonly binding: Binding
  readonly tenant?: string | undefined
  readonly http: HttpClient
  readonly idleMs: number
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Undefined members are not sent. */
export type Params = Readonly<Record<string, unknown>>

/** A frame and its cursor. */
export interface Framed {
  readonly cursor: string
  readonly value: unknown
}

export interface Transport {
  call(operation: Operation, params: Params, options?: CallOptions): Promise<unknown>
  stream(operation: Operation, params: Params, options?: CallOptions): AsyncGenerator<Framed, void>
}

interface Opened {
  readonly url: string
  readonly response: Response
}

type Requested = Pick<HttpRequest, 'url' | 'method' | 'body'>

export function createTransport(options: TransportOptions): Transport {
  const { http, version, binding, idleMs } = options
  const buildRequest =
    binding === 'JSONRPC' ? buildRpcRequests(options) : buildRestRequests(options)
  const isRest = binding === 'HTTP+JSON'

  async function open(
    operation: Operation,
    params: Params,
    { signal, headers }: CallOptions,
  ): Promise<Opened> {
    const request = buildRequest(operation, params)
    const response = await http.send({
      ...request,
      headers: { ...headersOf(version), ...headers },
      signal,
    })
    return { url: request.url, response }
  }

  /** Reads a body or a frame. @param status only for a body @throws ClientError when the peer refuses */
  function readValue(
    operation: Operation,
    text: string,
    isError: boolean,
    status?: number,
  ): unknown {
    const body = parseJson(text)
    const error = findError(body, isError && isRest)
    if (error === undefined) {
      const value = isRest ? body : readMember(body, 'result')
      if (value !== undefined && !isError) return value
      if (isNotification(body)) return body
      throw unexpected(operation, status)
    }
    const isControl = operation.isExtension && version === '0.3'
    const refusal = (isControl ? readControlError : readError)(error, status)
    throw isMissing(operation, refusal) ? unsupported(operation.name, refusal) : refusal
  }

  async function readWhole(operation: Operation, { url, response }: Opened, signal?: AbortSignal) {
    const text = await http.textOf(url, response, signal)
    return readValue(operation, text, !response.ok, response.status)
  }

  return {
    async call(operation, params, options = {}) {
      return readWhole(operation, await open(operation, params, options), options.signal)
    },
    async *stream(operation, params, options = {}) {
      const opened = await open(operation, params, options)
      const { url, response } = opened
      if (!isStream(response) || response.body === null) {
        // The peer refused, or it answers with a single result.
        yield { cursor: '', value: await readWhole(operation, opened, options.signal) }
        return
      }
      const chunks = chunksOf(response.body, idleMs, options.signal)
      try {
        for await (const { id, type, data } of readEvents(chunks)) {
          yield { cursor: id, value: readValue(operation, data, type === 'error') }
        }
      } catch (error) {
        options.signal?.throwIfAborted()
        throw isClientError(error) ? error : unreachable(url, error)
      }
    },
  }
}

const requestedExtensions = [TASK_CONTROL, REMINDERS, USER_CONSENT]

export function headersOf(version: Version): Readonly<Record<string, string>> {
  const common = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'a2a-version': version,
  }
  return version === '1.0'
    ? { ...common, 'a2a-extensions': requestedExtensions.join(',') }
    : { ...common, 'x-a2a-extensions': [...requestedExtensions, RFC_NOTIFICATIONS].join(',') }
}

function buildRpcRequests({ url, version, tenant }: TransportOptions) {
  let count = 0
  return (operation: Operation, params: Params): Requested => {
    const method = operation.method[version]
    if (method === undefined) throw unsupported(`${operation.name} over JSON-RPC in A2A ${version}`)
    const within = tenant === undefined ? params : { tenant, ...params }
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++count, method, params: within })
    return { url, method: 'POST', body }
  }
}

function buildRestRequests({ url, version, tenant }: TransportOptions) {
  const prefix = [tenant, version === '0.3' ? 'v1' : undefined]
    .filter((segment) => segment !== undefined)
    .map((segment) => `${encodeURIComponent(segment)}/`)
    .join('')
  const base = `${url.replace(/\/+$/, '')}/${prefix}`
  return ({ path, verb }: Operation, params: Params): Requested => {
    const rest: Record<string, unknown> = { ...params }
    const filled = path.replace(/\{(\w+)\}/, (_, name: string) => {
      const id = rest[name]
      delete rest[name]
      return encodeURIComponent(String(id))
    })
    if (verb === 'POST')
      return { url: `${base}${filled}`, method: verb, body: JSON.stringify(rest) }
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(rest)) {
      if (value !== undefined) query.set(name, String(value))
    }
    return { url: `${base}${filled}${query.size === 0 ? '' : `?${query}`}`, method: verb }
  }
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

/** @param isBare an answer of REST that failed: in 0.3 the whole body may be the error, and then it has a `code` */
function findError(body: unknown, isBare: boolean): JsonObject | undefined {
  if (isBare && isObject(body) && readMember(body, 'code') !== undefined) return body
  return readObject(body, 'error')
}

/** Whether the body is a notification of the RFCs, which has no result. */
function isNotification(body: unknown): boolean {
  return typeof readMember(body, 'method') === 'string' && isObject(readMember(body, 'params'))
}

function unexpected({ isExtension, name }: Operation, status?: number): ClientError {
  // A server without a route for an extension answers with its own error page.
  if (isExtension && (status === 404 || status === 405)) return unsupported(name)
  const refusal = status === undefined ? undefined : errorOfStatus(status)
  return refusal ?? notA2A(status === undefined ? 'no result' : `HTTP ${status}`, status)
}

/** Whether the refusal says that the peer does not offer the extension. */
function isMissing({ isExtension }: Operation, { reason, code, status }: ClientError): boolean {
  if (!isExtension) return false
  if (status === 404 && reason === 'UNKNOWN') return true
  return code === -32601 || reason === 'METHOD_NOT_FOUND' || reason === 'NOT_OFFERED'
}
