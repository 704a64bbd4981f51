/** What both bindings share: the request with its agent, reading the body, calling a method, building the answer. */
import { eventStreamHeaders } from '../../../http/event-stream.ts'
import type { HttpAnswer, HttpHeaders, HttpRequest } from '../../../http/http.ts'
import { parseStrictJson } from '../../../http/strict-json.ts'
import type { Params } from '../addresses/params.ts'
import {
  type A2AContext,
  type A2AEnv,
  type Answer,
  type Call,
  callerFor,
  checkScope,
  type Method,
} from '../call.ts'
import type { ServedAgent } from '../cards/served-agents.ts'
import type { StateSpelling } from '../codec/codec.ts'
import type { Codecs } from '../codec/create-codecs.ts'
import { A2AError, type Failure, failureOf } from '../errors/faults.ts'

/** One request to a binding, and what its answer depends on. */
export interface Exchange {
  readonly a2a: A2AContext
  readonly codecs: Codecs
  /** How states are named in a 0.3 answer. */
  readonly words: StateSpelling
  /** The extensions that the request activated. */
  readonly active: ReadonlySet<string>
  readonly request: HttpRequest
  readonly query: URLSearchParams | undefined
  readonly env: A2AEnv
  readonly agent: ServedAgent
}

/** The call of a method. Its parameters have no tenant, which belongs to no method; strict schemas would reject it. */
export function callOf(
  {
    active,
    request,
    env,
    agent,
  }: Pick<Exchange, 'active' | 'env' | 'agent'> & Pick<Call, 'request'>,
  method: Method,
  params: Params,
  binding: Pick<Call, 'codec' | 'envelope'> & { readonly tenant?: string | undefined },
): Call {
  const { tenant, ...rest } = params
  return {
    codec: binding.codec,
    caller: callerFor(env, binding.tenant ?? tenant),
    may: env.may,
    agent,
    params: tenant === undefined ? params : rest,
    active,
    request,
    envelope: binding.envelope,
  }
}

/** @throws A2AError when the caller lacks the scope */
export function runMethod(a2a: A2AContext, method: Method, call: Call): Promise<Answer> {
  // Methods for workers check their scope themselves, because for other callers they must look like
  // unknown methods.
  if (method.scope !== 'tasks:work') checkScope(method, call.may)
  return method.run(a2a, call)
}

/** Converts an error of the method or of the binding to a failure. Unexpected errors are logged. */
export function toFailure(
  { log }: A2AContext,
  method: Method | undefined,
  error: unknown,
): Failure {
  const failure = failureOf(error, method?.faults)
  if (failure.fault === 'INTERNAL') log('error', 'An A2A call failed', { error })
  return failure
}

const READABLE_TYPE = /^application\/(?:json|a2a\+json)\s*(?:;|$)/i

/** @returns undefined when there is no body @throws A2AError for another content type, or for invalid JSON */
export function readJson(request: HttpRequest): unknown {
  const { body } = request
  if (body.length === 0) return undefined
  const type = request.header('content-type') ?? ''
  // The usual form, checked without the regular expression.
  if (type !== JSON_TYPE && !READABLE_TYPE.test(type)) {
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json')
  }
  const parsed = parseStrictJson(body)
  if (parsed.problem === undefined) return parsed.value
  throw new A2AError(parsed.fault === 'syntax' ? 'PARSE_ERROR' : 'INVALID_REQUEST', parsed.problem)
}

export const JSON_TYPE = 'application/json'
const jsonHeaders: HttpHeaders = { 'content-type': JSON_TYPE }
/** Answers without further headers share constant objects. */
export const noHeaders: HttpHeaders = {}

export function jsonAnswer(
  body: string,
  headers: HttpHeaders = noHeaders,
  status = 200,
  type: string = JSON_TYPE,
): HttpAnswer {
  if (headers === noHeaders && type === JSON_TYPE) return { status, headers: jsonHeaders, body }
  return { status, headers: { 'content-type': type, ...headers }, body }
}

export function eventsAnswer(
  body: NonNullable<Answer['frames']>,
  headers: HttpHeaders,
): HttpAnswer {
  if (headers === noHeaders) return { status: 200, headers: eventStreamHeaders, body }
  return { status: 200, headers: { ...eventStreamHeaders, ...headers }, body }
}

/** The response headers that name the active extensions, as each version spells them. */
export function extensionHeaders({ active, codec }: Call, { extension }: Method): HttpHeaders {
  if (active.size === 0 && extension === undefined) return noHeaders
  const uris = new Set(active)
  if (extension !== undefined) uris.add(extension)
  const name = codec.version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'
  return { [name]: [...uris].join(',') }
}
