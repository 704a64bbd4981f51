import type { Caller } from '../../../engine/caller.ts'
import type { A2AContext, Scope } from '../call.ts'
import type { ServedAgent } from '../cards/served-agent.ts'
import type { Codec } from '../codec/codec.ts'
import type { V03Rest } from '../codec/v03-proto.ts'
import type { Params } from '../params.ts'
import type { Version } from '../versions.ts'

/** What the server knows about a request before we see it. */
export interface Env {
  readonly caller: Caller
  readonly may: (scope: Scope) => boolean
  readonly signal?: AbortSignal | undefined
  /** The body, where it was read already. */
  readonly body?: Uint8Array | undefined
}

/** One request on its way through a binding. */
export interface Exchange {
  readonly a2a: A2AContext
  readonly codecs: Readonly<Record<Version, Codec>>
  /** 0.3 over REST, in its two spellings. */
  readonly v03Rest: V03Rest
  readonly request: Request
  readonly query: URLSearchParams | undefined
  readonly env: Env
  readonly agent: ServedAgent
  /** The caller, in the tenant the request names. @throws LullError when that is not one of theirs */
  readonly callerFor: (tenant: unknown) => Caller
}

/** The tenant routes the call and is no parameter of it: strict methods would refuse it. */
export function withoutTenant(params: Params): Params {
  if (params['tenant'] === undefined) return params
  const { tenant: _tenant, ...rest } = params
  return rest
}
