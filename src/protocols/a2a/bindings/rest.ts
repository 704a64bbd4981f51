/** The HTTP+JSON binding: A2A 1.0 §11, and 0.3 under `/v1`. */
import type { HttpAnswer, HttpHeaders, HttpRequest } from '../../../http/http.ts'
import { isObject } from '../addresses/params.ts'
import { askedVersion, type Version } from '../addresses/versions.ts'
import type { Method } from '../call.ts'
import { jsonName, withJsonNames } from '../codec/proto-names.ts'
import { isProto } from '../codec/v03-rest.ts'
import {
  A2AError,
  codeOf,
  dataOf,
  detailsArray,
  type Failure,
  failureOf,
  faults,
  reasonOf,
  retryHeaders,
} from '../errors/faults.ts'
import type { Matched } from '../methods/methods.ts'
import {
  callOf,
  type Exchange,
  eventsAnswer,
  extensionHeaders,
  JSON_TYPE,
  jsonAnswer,
  noHeaders,
  readJson,
  runMethod,
  toFailure,
} from './exchange.ts'
import { unsupportedVersion } from './json-rpc.ts'

export interface RestTarget {
  readonly version: Version
  readonly matched: Matched
  readonly tenant: string | undefined
}

export async function serveRest(exchange: Exchange, target: RestTarget): Promise<HttpAnswer> {
  const { a2a, codecs, words, request, query } = exchange
  const { version, matched, tenant } = target
  const type = contentType(request)
  let method: Method | undefined
  let headers = noHeaders
  try {
    checkVersion(request, query, version)
    if ('allow' in matched) {
      if (matched.allow.length === 0) {
        throw new A2AError('METHOD_NOT_FOUND', `There is no such action: ${request.path}`)
      }
      const failure = failureOf(new A2AError('METHOD_NOT_FOUND', `Use ${matched.allow.join(', ')}`))
      return failed(failure, version, false, type, { allow: matched.allow.join(', ') }, 405)
    }
    method = matched.method
    const params = paramsOf(exchange, matched.found)
    if (params['request'] !== undefined && version === '0.3')
      params['message'] ??= params['request']
    const codec =
      version === '1.0' ? codecs.v1 : codecs.v03Rest[words][isProto(params) ? 'proto' : 'kinds']
    const call = callOf(exchange, method, params, { codec, tenant, envelope: (result) => result })
    headers = extensionHeaders(call, method)
    const answer = await runMethod(a2a, method, call)
    if (answer.frames !== undefined) return eventsAnswer(answer.frames, headers)
    const text = 'text' in answer ? answer.text : JSON.stringify(answer.value)
    return text === 'null'
      ? { status: 204, headers, body: undefined }
      : jsonAnswer(text, headers, 200, type)
  } catch (error) {
    const failure = toFailure(a2a, method, error)
    return failed(failure, version, method?.extension !== undefined, type, headers)
  }
}

/** Rejects a header with another version than the path, which decides the version. */
function checkVersion(
  request: HttpRequest,
  query: URLSearchParams | undefined,
  spoken: Version,
): void {
  const asked = askedVersion(request, query)
  if (asked === undefined || asked === spoken) return
  if (asked === 'unknown') throw unsupportedVersion(request)
  const where = asked === '0.3' ? 'under /v1' : 'without /v1'
  throw new A2AError('VERSION_NOT_SUPPORTED', `A2A ${asked} is spoken ${where}, not here`)
}

const numbers: ReadonlySet<string> = new Set(['historyLength', 'pageSize'])

/**
 * Joins the parameters from path, body and query. The path takes precedence. Query values are text;
 * numbers and booleans are converted.
 */
function paramsOf(
  { request, query }: Exchange,
  found: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const params: Record<string, unknown> = {}
  for (const [given, value] of query ?? []) {
    const name = jsonName(given)
    params[name] = typed(name, value)
  }
  delete params['A2A-Version']
  delete params['a2a-version']
  if (request.method === 'POST') {
    const body = readJson(request)
    if (body !== undefined && !isObject(body)) {
      throw new A2AError('INVALID_PARAMS', 'The body must be a JSON object', {
        path: '',
        problem: 'must be a JSON object',
      })
    }
    if (body !== undefined) Object.assign(params, withJsonNames(body))
  }
  return { ...params, ...found }
}

function typed(name: string, value: string): unknown {
  if (numbers.has(name)) return /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (name !== 'includeArtifacts') return value
  return value === 'true' ? true : value === 'false' ? false : value
}

const A2A_TYPE = 'application/a2a+json'

/**
 * The content type of the answer. 1.0.1 prefers its own media type, but a request in plain JSON is
 * answered in plain JSON.
 */
function contentType(request: HttpRequest): string {
  const given = request.header('content-type') ?? request.header('accept') ?? ''
  return given.includes(A2A_TYPE) ? A2A_TYPE : JSON_TYPE
}

export function failed(
  failure: Failure,
  version: Version,
  control: boolean,
  type: string,
  headers: HttpHeaders = noHeaders,
  status: number = faults[failure.fault].http,
): HttpAnswer {
  const body = version === '1.0' ? errorV1(failure, status) : errorV03(failure, control, status)
  return jsonAnswer(JSON.stringify(body), retryHeaders(failure, headers), status, type)
}

/** An error in the shape of google.rpc.Status (§11.6). */
function errorV1(failure: Failure, code: number): { readonly error: object } {
  const { status } = faults[failure.fault]
  const { message } = failure
  return { error: { code, status, message, details: detailsArray(failure) } }
}

/**
 * An error in 0.3, which does not define its shape. The JavaScript SDK reads the JSON-RPC error
 * object, the Python SDK `type`, the Go and Java SDKs `error`. Java takes the first `error` at any
 * depth, so it is written before `data`.
 */
function errorV03(failure: Failure, control: boolean, status: number): object {
  const { message } = failure
  const type = errorName(reasonOf(failure))
  const { error } = errorV1(failure, status)
  return {
    code: codeOf(failure, '0.3', control),
    type,
    message,
    error,
    data: dataOf(failure, '0.3'),
  }
}

/** The name of a fault as an error type: `TASK_NOT_FOUND` becomes `TaskNotFoundError`. */
function errorName(fault: string): string {
  const words = fault.split('_').map((word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`)
  return `${words.join('')}Error`
}
