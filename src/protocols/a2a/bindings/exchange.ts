import type { HttpRequest } from '../../../wire/http.ts'
import type { A2AContext } from '../call.ts'
import type { ServedAgent } from '../cards/served-agent.ts'
import type { StateSpelling } from '../codec/codec.ts'
import type { Codecs } from '../codec/codecs.ts'
import type { A2AEnv } from '../env.ts'
import type { Params } from '../params.ts'

/** One request on its way through a binding. */
export interface Exchange {
  readonly a2a: A2AContext
  readonly codecs: Codecs
  /** Whose words a 0.3 answer uses. */
  readonly words: StateSpelling
  /** Extensions that the request turned on. */
  readonly active: ReadonlySet<string>
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
