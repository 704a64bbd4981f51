/** The JSON-RPC binding: A2A 1.0 §9, and 0.3 at the same address. The HTTP status of a call is 200, also for errors. */
import type { HttpAnswer, HttpRequest } from '../../../http/http.ts'
import { envelopeOf, errorText, parseRequest, type RpcId } from '../../../http/json-rpc.ts'
import type { Params } from '../addresses/params.ts'
import { askedVersion, type Version } from '../addresses/versions.ts'
import type { Method } from '../call.ts'
import { withJsonNames } from '../codec/proto-names.ts'
import { bindu } from '../dialects/bindu/bindu-methods.ts'
import {
  A2AError,
  codeOf,
  dataOf,
  type Failure,
  type FaultName,
  faults,
  retryHeaders,
} from '../errors/faults.ts'
import { methods } from '../methods/methods.ts'
import {
  callOf,
  type Exchange,
  eventsAnswer,
  extensionHeaders,
  jsonAnswer,
  noHeaders,
  readJson,
  runMethod,
  toFailure,
} from './exchange.ts'

const NOTHING: Params = {}
/** Matches core methods of 1.0, whose parameters are ProtoJSON. */
const CORE_V1 = /^[A-Z]/

export async function serveRpc(exchange: Exchange): Promise<HttpAnswer> {
  const { a2a, codecs, words, request, query } = exchange
  const asked = askedVersion(request, query)
  const version: Version = asked === 'unknown' ? '1.0' : (asked ?? '0.3')
  let id: RpcId = null
  let method: Method | undefined
  let headers = noHeaders
  try {
    const body = readJson(request)
    if (body === undefined) throw new A2AError('PARSE_ERROR', 'The body is empty')
    const parsed = parseRequest(body)
    if (parsed.error !== undefined) return jsonAnswer(errorText(parsed.id, parsed.error))
    const { request: rpc } = parsed
    id = rpc.id
    if (asked === 'unknown') throw unsupportedVersion(request)
    const given = rpc.params ?? NOTHING
    method = dialectOf(rpc.method, given) ?? methodNamed(rpc.method, version)
    request.calls?.(rpc.method)
    const params = CORE_V1.test(rpc.method) ? withJsonNames(given) : given
    const codec = version === '1.0' ? codecs.v1 : codecs.v03[words]
    const call = callOf(exchange, method, params, { codec, envelope: envelopeOf(id) })
    headers = extensionHeaders(call, method)
    const answer = await runMethod(a2a, method, call)
    if (answer.frames !== undefined) return eventsAnswer(answer.frames, headers)
    const text = call.envelope('text' in answer ? answer.text : JSON.stringify(answer.value))
    return jsonAnswer(text, headers)
  } catch (error) {
    const failure = toFailure(a2a, method, error)
    const text = failureText(id, failure, version, method?.extension !== undefined)
    // A 0.3 client accepts only events from a streaming method, even for errors (0.3 §3.3, §7).
    if (method?.streams === true && version === '0.3' && failure.fault !== 'FORBIDDEN') {
      return eventsAnswer(`data: ${text}\n\n`, headers)
    }
    return jsonAnswer(text, retryHeaders(failure, headers), statuses[failure.fault] ?? 200)
  }
}

/** The HTTP status of requests that are rejected before a method is called. */
const statuses: Partial<Readonly<Record<FaultName, number>>> = {
  UNSUPPORTED_MEDIA_TYPE: faults.UNSUPPORTED_MEDIA_TYPE.http,
  FORBIDDEN: faults.FORBIDDEN.http,
}

/**
 * The Bindu method, if the parameters have `task_id`. Only the Bindu dialect has that name, so it
 * decides even if other ids are present.
 */
function dialectOf(name: string, params: Params): Method | undefined {
  return params['task_id'] === undefined ? undefined : bindu.get(name)
}

export function methodNamed(name: string, version: Version): Method {
  const method = methods[version].get(name)
  if (method !== undefined) return method
  const other: Version = version === '1.0' ? '0.3' : '1.0'
  const hint = methods[other].has(name)
    ? `: it belongs to A2A ${other}, and this request asks for ${version} (header A2A-Version)`
    : ''
  throw new A2AError('METHOD_NOT_FOUND', `There is no method ${name.slice(0, 128)} here${hint}`)
}

export function unsupportedVersion(request: Pick<HttpRequest, 'header'>): A2AError {
  const given = request.header('a2a-version') ?? 'that'
  return new A2AError(
    'VERSION_NOT_SUPPORTED',
    `A2A ${given.slice(0, 32)} is not spoken here; 1.0 and 0.3 are`,
    { supported: '1.0, 0.3' },
  )
}

function failureText(id: RpcId, failure: Failure, version: Version, control: boolean): string {
  return errorText(id, {
    code: codeOf(failure, version, control),
    message: failure.message,
    data: dataOf(failure, version),
  })
}
