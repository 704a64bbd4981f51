/**
 * Serves agent cards over HTTP. Each is rendered once per agent and version, with an ETag and a
 * Vary header (§8.6).
 */

import { createHash } from 'node:crypto'
import type { HttpAnswer, HttpRequest } from '../../../http/http.ts'
import type { Version } from '../addresses/versions.ts'
import type { Method } from '../call.ts'
import { A2AError } from '../errors/faults.ts'
import type { ServedAgent } from './served-agents.ts'

const MAX_AGE_S = 60

interface RenderedCard {
  readonly body: string
  readonly etag: string
}

export type CardResponse = (
  agent: ServedAgent,
  version: Version,
  request: HttpRequest,
) => HttpAnswer

/** @param since the instant at which the cards last changed */
export function createCardResponse(since: number): CardResponse {
  const lastModified = new Date(since).toUTCString()
  const known = new Map<string, RenderedCard>()

  function renderOnce(agent: ServedAgent, version: Version): RenderedCard {
    const key = `${version} ${agent.scope ?? ''}`
    const found = known.get(key)
    if (found !== undefined) return found
    const body = JSON.stringify(agent.card(version))
    const digest = createHash('sha256').update(body).digest('base64url').slice(0, 27)
    const fresh = { body, etag: `"${digest}"` }
    known.set(key, fresh)
    return fresh
  }

  return (agent, version, request) => {
    const { body, etag } = renderOnce(agent, version)
    const headers = {
      etag,
      'last-modified': lastModified,
      'cache-control': `public, max-age=${MAX_AGE_S}`,
      // `Origin`, because a page of another origin gets other headers.
      vary: 'A2A-Version, Origin',
    }
    if (matches(request.header('if-none-match'), etag)) {
      return { status: 304, headers, body: undefined }
    }
    return {
      status: 200,
      headers: { ...headers, 'content-type': 'application/json' },
      body: request.method === 'HEAD' ? undefined : body,
    }
  }
}

function matches(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false
  return given.split(',').some((one) => {
    const tag = one.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}

/** `GetExtendedAgentCard` / `agent/getAuthenticatedExtendedCard`: A2A 1.0 §3.1.11. */
export const getExtendedAgentCard: Method = {
  scope: 'tasks:read',
  async run(_a2a, { agent, codec, caller }) {
    const card = agent.extendedCard(codec.version, caller)
    if (card !== undefined) return { value: card }
    // 1.0 has an error for a capability that the card does not offer. 0.3 has one error for both cases.
    const fault =
      codec.version === '1.0' ? 'UNSUPPORTED_OPERATION' : 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
    throw new A2AError(fault, 'This agent has no extended card')
  },
}
