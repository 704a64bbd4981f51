/**
 * Which agent, version and binding an address means (contract a2a §1):
 *
 *   POST /                     JSON-RPC        /message:send …          REST 1.0
 *   POST /agents/{name}        JSON-RPC        /v1/message:send …       REST 0.3
 *   /.well-known/agent-card.json               /{tenant}/message:send … REST 1.0, tenant by path
 *
 * and the same under `/agents/{name}`; `/.well-known/jwks.json` is the server's. Everything else is not ours.
 */
import { type Matched, matchRoute } from './bindings/routes.ts'
import type { Version } from './versions.ts'

export type Place =
  | { readonly kind: 'rpc'; readonly agent: string | undefined }
  | { readonly kind: 'card'; readonly agent: string | undefined }
  | { readonly kind: 'keys' }
  | {
      readonly kind: 'rest'
      readonly agent: string | undefined
      readonly version: Version
      readonly matched: Matched
      readonly tenant: string | undefined
    }

/** First segments that never name a tenant: the server's own addresses. */
const reserved: ReadonlySet<string> = new Set([
  '.well-known',
  'acp',
  'acp',
  'agents',
  'dashboard',
  'events',
  'healthz',
  'metrics',
  'ops',
  'readyz',
  'tasks',
  'v1',
])

const cardNames: ReadonlySet<string> = new Set(['agent-card.json', 'agent.json'])

export function placeOf(verb: string, pathname: string): Place | undefined {
  // The common case, without taking the path apart.
  if (pathname === '/') return verb === 'POST' ? { kind: 'rpc', agent: undefined } : undefined
  const segments = segmentsOf(pathname)
  if (segments === undefined) return undefined
  if (segments[0] !== 'agents') return within(verb, segments, undefined)
  const [, agent, ...rest] = segments
  return agent === undefined ? undefined : within(verb, rest, agent)
}

function within(
  verb: string,
  segments: readonly string[],
  agent: string | undefined,
): Place | undefined {
  const [first, second] = segments
  if (first === undefined) return verb === 'POST' ? { kind: 'rpc', agent } : undefined
  if (first === '.well-known') {
    if (segments.length !== 2 || second === undefined) return undefined
    if (verb !== 'GET' && verb !== 'HEAD') return undefined
    if (second === 'jwks.json' && agent === undefined) return { kind: 'keys' }
    return cardNames.has(second) ? { kind: 'card', agent } : undefined
  }
  const rest = (version: Version, path: readonly string[], tenant?: string): Place | undefined => {
    const matched = matchRoute(version, verb, path)
    return matched && { kind: 'rest', agent, version, matched, tenant }
  }
  if (first === 'v1') return rest('0.3', segments.slice(1))
  const found = rest('1.0', segments)
  if (found !== undefined || reserved.has(first)) return found
  return rest('1.0', segments.slice(1), first)
}

const dots: ReadonlySet<string> = new Set(['.', '..'])

/** Decoded; undefined for what cannot be decoded, or climbs. A slash at the end does not matter. */
function segmentsOf(pathname: string): readonly string[] | undefined {
  const raw = pathname.split('/').slice(1)
  if (raw.at(-1) === '') raw.pop()
  try {
    const segments = raw.map(decodeURIComponent)
    return segments.some((segment) => dots.has(segment)) ? undefined : segments
  } catch {
    return undefined
  }
}
