/** Answers a request at an address of the adapter. */
import { LullError } from '../../core/errors.ts'
import type { HttpAnswer, HttpRequest } from '../../http/http.ts'
import type { Endpoint } from './addresses/routing.ts'
import { askedVersion } from './addresses/versions.ts'
import { JSON_TYPE, jsonAnswer } from './bindings/answers.ts'
import type { Exchange } from './bindings/exchange.ts'
import { serveRpc, unsupportedVersion } from './bindings/json-rpc.ts'
import { failed, serveRest } from './bindings/rest.ts'
import type { A2AContext } from './call.ts'
import { createCardResponse } from './cards/card-response.ts'
import type { ServedAgent } from './cards/served-agent.ts'
import type { ServedAgents } from './cards/served-agents.ts'
import type { PublicJwk } from './cards/signing-key.ts'
import { type Codecs, stateSpelling } from './codec/codecs.ts'
import type { A2AConfig } from './config.ts'
import type { A2AEnv } from './env.ts'
import { failureOf } from './errors/failure.ts'
import { A2AError } from './errors/faults.ts'
import { activated } from './extensions.ts'

export interface ServeDeps {
  readonly a2a: A2AContext
  readonly codecs: Codecs
  readonly config: A2AConfig
  /** The public keys. Absent if nothing is signed. */
  readonly keys: (() => Promise<readonly PublicJwk[]>) | undefined
  readonly agents: ServedAgents
}

export type Serve = (
  request: HttpRequest,
  endpoint: Endpoint,
  env: A2AEnv,
) => HttpAnswer | Promise<HttpAnswer>

export function createServe({ a2a, codecs, config, keys, agents }: ServeDeps): Serve {
  const cards = createCardResponse(a2a.clock.now())

  function agentAt(name: string | undefined): ServedAgent {
    const agent = agents.get(name)
    if (agent === undefined) throw new LullError('AGENT_UNKNOWN', { agent: name ?? '' })
    return agent
  }

  /** The agent of an address that names none. It is ambiguous if the server has several agents. */
  function onlyAgent(): ServedAgent {
    if (a2a.engine.agents.size === 1) return agentAt(undefined)
    throw new A2AError(
      'METHOD_NOT_FOUND',
      'Which agent? The URL of an agent ends with a slash: /agents/{name}/',
    )
  }

  return (request, endpoint, env) => {
    try {
      if (endpoint.kind === 'keys') return keysAnswer(keys)
      const agent = endpoint.kind === 'nameless-card' ? onlyAgent() : agentAt(endpoint.agent)
      const query = request.search === '' ? undefined : new URLSearchParams(request.search)
      if (endpoint.kind === 'card' || endpoint.kind === 'nameless-card') {
        const version = askedVersion(request, query) ?? '0.3'
        if (version === 'unknown') throw unsupportedVersion(request)
        return cards(agent, version, request)
      }
      const active = activated(request)
      const words = stateSpelling(config, endpoint.core, active)
      const exchange: Exchange = { a2a, codecs, words, active, request, query, env, agent }
      return endpoint.kind === 'rpc' ? serveRpc(exchange) : serveRest(exchange, endpoint)
    } catch (error) {
      return failed(failureOf(error), '1.0', false, JSON_TYPE)
    }
  }
}

/**
 * Answers with the public keys. Receivers may cache them, but not for so long that they miss a new
 * key.
 */
async function keysAnswer(keys: ServeDeps['keys']): Promise<HttpAnswer> {
  return jsonAnswer(JSON.stringify({ keys: (await keys?.()) ?? [] }), {
    'cache-control': 'public, max-age=300',
  })
}
