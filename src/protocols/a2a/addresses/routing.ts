/**
 * Finds the agent, version and binding of an address:
 *
 *   POST /                          JSON-RPC
 *   /message:send …                 REST 1.0
 *   /{tenant}/message:send …        REST 1.0, tenant by path
 *   /v1/message:send …              REST 0.3
 *   /.well-known/agent-card.json    the card
 *
 * The same addresses exist under `/agents/{name}` for each agent, and all of them once more under
 * `/core`. The 0.3 cards name the addresses under `/core`, where 0.3 answers have only core states.
 * `/.well-known/jwks.json` has the key of signed webhooks. All other addresses are left to the
 * server.
 */
import { type Matched, matchRoute } from '../methods/methods.ts'
import type { Version } from './versions.ts'

/** The agent of an address. Undefined: the default agent. */
interface Base {
  readonly agent: string | undefined
  /** Whether the address is under `/core`. */
  readonly core: boolean
}

export type Endpoint =
  | ({ readonly kind: 'rpc' } & Base)
  | ({ readonly kind: 'card' } & Base)
  | { readonly kind: 'keys' }
  /** A request for a card under `/agents` that does not name an agent. */
  | { readonly kind: 'nameless-card' }
  | ({
      readonly kind: 'rest'
      readonly version: Version
      readonly matched: Matched
      readonly tenant: string | undefined
    } & Base)

/** Names that are never a tenant as first segment of a path, because the server uses them. */
const reserved: ReadonlySet<string> = new Set([
  '.well-known',
  'acp',
  'agents',
  'core',
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

const root: Endpoint = { kind: 'rpc', agent: undefined, core: false }

export function endpointAt(verb: string, pathname: string): Endpoint | undefined {
  // The most frequent address, handled without splitting the path.
  if (pathname === '/') return verb === 'POST' ? root : undefined
  const segments = segmentsOf(pathname)
  if (segments === undefined) return undefined
  if (segments[0] !== 'agents') return below(verb, segments, undefined)
  const [, agent, ...rest] = segments
  // `createFromUrl('…/agents/painter')` of the official client drops the last segment and requests this address.
  if (agent === '.well-known') return isCard(verb, rest) ? { kind: 'nameless-card' } : undefined
  return agent === undefined ? undefined : below(verb, rest, agent)
}

function below(
  verb: string,
  segments: readonly string[],
  agent: string | undefined,
): Endpoint | undefined {
  const core = segments[0] === 'core'
  return within(verb, core ? segments.slice(1) : segments, { agent, core })
}

function within(verb: string, segments: readonly string[], base: Base): Endpoint | undefined {
  const [first] = segments
  if (first === undefined) return verb === 'POST' ? { kind: 'rpc', ...base } : undefined
  if (first === '.well-known') return wellKnown(verb, segments.slice(1), base)
  const rest = (
    version: Version,
    path: readonly string[],
    tenant?: string,
  ): Endpoint | undefined => {
    const matched = matchRoute(version, verb, path)
    return matched && { kind: 'rest', version, matched, tenant, ...base }
  }
  if (first === 'v1') return rest('0.3', segments.slice(1))
  const found = rest('1.0', segments)
  if (found !== undefined || reserved.has(first)) return found
  return rest('1.0', segments.slice(1), first)
}

function wellKnown(verb: string, names: readonly string[], base: Base): Endpoint | undefined {
  if (isCard(verb, names)) return { kind: 'card', ...base }
  const isKeys = names.length === 1 && names[0] === 'jwks.json' && isRead(verb)
  return isKeys && base.agent === undefined && !base.core ? { kind: 'keys' } : undefined
}

function isCard(verb: string, names: readonly string[]): boolean {
  return isRead(verb) && names.length === 1 && cardNames.has(names[0] ?? '')
}

function isRead(verb: string): boolean {
  return verb === 'GET' || verb === 'HEAD'
}

const dots: ReadonlySet<string> = new Set(['.', '..'])

/** The decoded segments. Undefined for invalid encoding and for `..`. A slash at the end is ignored. */
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
