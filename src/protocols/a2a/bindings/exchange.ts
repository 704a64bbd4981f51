import type { HttpRequest } from '../../../http/http.ts'
import type { Params } from '../addresses/params.ts'
import type { A2AContext } from '../call.ts'
import type { ServedAgent } from '../cards/served-agent.ts'
import type { StateSpelling } from '../codec/codec.ts'
import type { Codecs } from '../codec/codecs.ts'
import type { A2AEnv } from '../env.ts'

/** One request in a binding. */
export interface Exchange {
  readonly a2a: A2AContext
  readonly codecs: Codecs
  /** The spelling of states in a 0.3 answer. */
  readonly words: StateSpelling
  /** The extensions that the request activated. */
  readonly active: ReadonlySet<string>
  readonly request: HttpRequest
  readonly query: URLSearchParams | undefined
  readonly env: A2AEnv
  readonly agent: ServedAgent
}

/** The tenant is not a parameter of the method. Strict schemas would refuse it. */
export function withoutTenant(params: Params): Params {
  if (params['tenant'] === undefined) return params
  const { tenant: _tenant, ...rest } = params
  return rest
}
