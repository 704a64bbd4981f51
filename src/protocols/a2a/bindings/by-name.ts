/** Calls a method of A2A 1.0 by its name, for bindings that are not HTTP and bring their own messages. */
import type { FrameSource } from '../../../http/event-stream.ts'
import type { HttpHeaders, HttpRequest } from '../../../http/http.ts'
import { askedVersion } from '../addresses/versions.ts'
import type { A2AContext, A2AEnv, Method } from '../call.ts'
import type { ServedAgent } from '../cards/served-agents.ts'
import type { Codecs } from '../codec/create-codecs.ts'
import { detailsArray, faults, retryHeaders } from '../errors/faults.ts'
import { activated, RFC_NOTIFICATIONS } from '../extensions.ts'
import { callOf, extensionHeaders, noHeaders, runMethod, toFailure } from './exchange.ts'
import { methodNamed, unsupportedVersion } from './json-rpc.ts'

/** A call of a method. `method` is its name in JSON-RPC, `params` are ProtoJSON. */
export interface MethodCall {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly request: Pick<HttpRequest, 'header' | 'onGone' | 'calls'>
}

export interface MethodError {
  /** The name of the gRPC status. */
  readonly status: string
  readonly message: string
  /** Messages of google.rpc in ProtoJSON, each with `@type`. */
  readonly details: readonly unknown[]
}

/** The result as JSON text, the frames of a stream as server-sent events, or an error. */
export type MethodAnswer = { readonly headers: HttpHeaders } & (
  | { readonly text: string; readonly frames?: undefined; readonly error?: undefined }
  | {
      readonly frames: FrameSource | string
      /** Whether streams end because the server stops, and not because their task is over. */
      readonly isStopping: () => boolean
      readonly error?: undefined
    }
  | { readonly error: MethodError; readonly frames?: undefined }
)

export type CallMethod = (call: MethodCall, env: A2AEnv) => Promise<MethodAnswer>

interface CallMethodDeps {
  readonly a2a: A2AContext
  readonly codecs: Pick<Codecs, 'v1'>
  /** @throws LullError if the server has no such agent */
  readonly agentAt: (name: string | undefined) => ServedAgent
}

/**
 * The tenant has the form of the address of REST: `{tenant}` at the default agent, and `agents/{name}` or
 * `agents/{name}/{tenant}` at the others.
 */
const OF_AGENT = /^agents\/([^/]+)(?:\/(.*))?$/

export function createCallMethod({ a2a, codecs, agentAt }: CallMethodDeps): CallMethod {
  return async ({ method: name, params, request }, env) => {
    let method: Method | undefined
    let headers = noHeaders
    try {
      checkVersion(request)
      method = methodNamed(name, '1.0')
      request.calls?.(name)
      const { tenant: given, ...rest } = params
      const tenant = typeof given === 'string' ? given : undefined
      const [, agent, inAgent] = OF_AGENT.exec(tenant ?? '') ?? []
      // Notifications of the RFCs are messages of JSON-RPC.
      const active = new Set([...activated(request)].filter((uri) => uri !== RFC_NOTIFICATIONS))
      const exchange = { active, request, env, agent: agentAt(agent) }
      const call = callOf(exchange, method, rest, {
        codec: codecs.v1,
        envelope: (result) => result,
        tenant: agent === undefined ? tenant : inAgent,
      })
      headers = extensionHeaders(call, method)
      const answer = await runMethod(a2a, method, call)
      if (answer.frames !== undefined) {
        return { headers, frames: answer.frames, isStopping: () => a2a.closing.closed }
      }
      return { headers, text: 'text' in answer ? answer.text : JSON.stringify(answer.value) }
    } catch (error) {
      const failure = toFailure(a2a, method, error)
      const { status } = faults[failure.fault]
      const { message } = failure
      return {
        headers: retryHeaders(failure, headers),
        error: { status, message, details: detailsArray(failure) },
      }
    }
  }
}

/** Calls without a version are 1.0, as at the addresses of REST without `/v1`. */
function checkVersion(request: MethodCall['request']): void {
  const asked = askedVersion(request, undefined)
  if (asked !== undefined && asked !== '1.0') throw unsupportedVersion(request)
}
