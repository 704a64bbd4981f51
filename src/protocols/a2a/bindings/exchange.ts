import type { HttpRequest } from '../../../http/http.ts'
import type { Params } from '../addresses/params.ts'
import type { A2AContext } from '../call.ts'
import type { ServedAgent } from '../cards/served-agent.ts'
import type { StateSpelling } from '../codec/codec.ts'
import type { Codecs } from '../codec/codecs.ts'
import type { A2AEnv } from '../env.ts'

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

/**
 * The parameters without the tenant, which belongs to no method; strict schemas would reject it.
 */
export function withoutTenant(params: Params): Params {
  if (params['tenant'] === undefined) return params
  const { tenant: _tenant, ...rest } = params
  return rest
}
