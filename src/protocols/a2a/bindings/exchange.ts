import type { HttpRequest } from '../../../wire/http.ts'
import type { A2AContext } from '../call.ts'
import type { ServedAgent } from '../cards/served-agent.ts'
import type { Codec } from '../codec/codec.ts'
import type { V03Rest } from '../codec/v03-proto.ts'
import type { A2AEnv } from '../env.ts'
import type { Params } from '../params.ts'
import type { Version } from '../versions.ts'

/** One request on its way through a binding. */
export interface Exchange {
  readonly a2a: A2AContext
  readonly codecs: Readonly<Record<Version, Codec>>
  /** 0.3 over REST, in its two spellings. */
  readonly v03Rest: V03Rest
  readonly request: HttpRequest
  readonly query: URLSearchParams | undefined
  readonly env: A2AEnv
  readonly agent: ServedAgent
}

/** The tenant routes the call and is no parameter of it: strict methods would refuse it. */
export function withoutTenant(params: Params): Params {
  if (params['tenant'] === undefined) return params
  const { tenant: _tenant, ...rest } = params
  return rest
}
