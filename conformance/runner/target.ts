/** What an endpoint says about itself: its card in each version, and which binding answers where. */

import type { Dialect } from '../dialects/dialect.ts'
import { createJsonRpc } from '../dialects/jsonrpc.ts'
import { createRest, type V03Rest } from '../dialects/rest.ts'
import type { Binding, Lane, Need, Version } from '../model.ts'
import { at, entries, list, parseJson } from '../values.ts'

export interface Endpoint {
  readonly url: string
  readonly dialect: Dialect
}

export interface Target {
  /** The address the runner was given, without a trailing slash. */
  readonly base: string
  readonly cards: Readonly<Record<Version, unknown>>
  readonly endpoints: ReadonlyMap<Lane, Endpoint>
}

export const CARD_PATH = '/.well-known/agent-card.json'

const BINDINGS: Readonly<Record<string, Binding>> = { JSONRPC: 'jsonrpc', 'HTTP+JSON': 'rest' }
const DIALECTS: Readonly<Record<string, (version: Version, v03Rest: V03Rest) => Dialect>> = {
  jsonrpc: createJsonRpc,
  rest: createRest,
}

export async function discover(url: string, v03Rest: V03Rest = 'proto'): Promise<Target> {
  const base = url.replace(/\/$/, '').replace(/\/\.well-known\/.*$/, '')
  const cards = {
    '1.0': await fetchCard(base, { 'a2a-version': '1.0' }),
    '0.3': await fetchCard(base, {}),
  }
  const endpoints = new Map<Lane, Endpoint>()
  function add(version: Version, name: unknown, where: unknown): void {
    const binding = BINDINGS[String(name)]
    if (binding === undefined || typeof where !== 'string') return
    const lane: Lane = `${version}/${binding}`
    // The first interface per binding and version is the preferred one.
    const dialect = DIALECTS[binding]?.(version, v03Rest)
    if (dialect && !endpoints.has(lane))
      endpoints.set(lane, { url: restRoot(lane, where), dialect })
  }
  for (const card of [cards['1.0'], cards['0.3']]) {
    for (const item of list(at(card, 'supportedInterfaces'))) {
      const version = String(at(item, 'protocolVersion'))
      if (version === '1.0' || version === '0.3') {
        add(version, at(item, 'protocolBinding'), at(item, 'url'))
      }
    }
  }
  if (String(at(cards['0.3'], 'protocolVersion') ?? '').startsWith('0.3')) {
    const preferred = at(cards['0.3'], 'preferredTransport') ?? 'JSONRPC'
    add('0.3', preferred, at(cards['0.3'], 'url'))
    for (const item of list(at(cards['0.3'], 'additionalInterfaces'))) {
      add('0.3', at(item, 'transport'), at(item, 'url'))
    }
  }
  return { base, cards, endpoints }
}

/** The 0.3 routes begin with /v1; cards name the address either with or without it. */
function restRoot(lane: Lane, url: string): string {
  return lane === '0.3/rest' ? url.replace(/\/v1\/?$/, '') : url
}

async function fetchCard(base: string, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(`${base}${CARD_PATH}`, {
    headers,
    signal: AbortSignal.timeout(10_000),
  })
  const text = await response.text()
  return response.ok ? parseJson(text) : undefined
}

const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
const REMINDERS = 'urn:lull:a2a:reminders:1'
const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
export const REQUIRED_EXTENSION = 'urn:a2a:tck:required-extension'

function extension(card: unknown, uri: string): unknown {
  return list(at(card, 'capabilities.extensions')).find((item) => at(item, 'uri') === uri)
}

/** What a case can ask of a target before it makes sense, and what to say when it is not so. */
export const NEEDS: Readonly<
  Record<Need, { readonly says: string; readonly met: (target: Target, card: unknown) => boolean }>
> = {
  streaming: {
    says: 'the card does not declare streaming',
    met: (_, card) => at(card, 'capabilities.streaming') === true,
  },
  'no-streaming': {
    says: 'the card declares streaming',
    met: (_, card) => at(card, 'capabilities.streaming') !== true,
  },
  push: {
    says: 'the card does not declare push notifications',
    met: (_, card) => at(card, 'capabilities.pushNotifications') === true,
  },
  'no-push': {
    says: 'the card declares push notifications',
    met: (_, card) => at(card, 'capabilities.pushNotifications') !== true,
  },
  'extended-card': {
    says: 'the card does not declare an extended card',
    met: (_, card) => declaresExtended(card),
  },
  'no-extended-card': {
    says: 'the card declares an extended card',
    met: (_, card) => !declaresExtended(card),
  },
  'required-extension': {
    says: `the card does not require ${REQUIRED_EXTENSION}`,
    met: (_, card) => at(extension(card, REQUIRED_EXTENSION), 'required') === true,
  },
  'both-bindings': {
    says: 'the card declares only one binding of this version',
    met: (target) =>
      (['1.0', '0.3'] as const).some(
        (version) =>
          target.endpoints.has(`${version}/jsonrpc`) && target.endpoints.has(`${version}/rest`),
      ),
  },
  'both-versions': {
    says: 'the card declares only one version',
    met: ({ endpoints }) => endpoints.has('1.0/jsonrpc') && endpoints.has('0.3/jsonrpc'),
  },
  signatures: {
    says: 'the card is not signed',
    met: (_, card) => list(at(card, 'signatures')).length > 0,
  },
  security: {
    says: 'the card declares no security schemes',
    met: (_, card) => entries(at(card, 'securitySchemes')).length > 0,
  },
  https: { says: 'the endpoint is not https', met: ({ base }) => base.startsWith('https:') },
  'task-control': {
    says: `the card does not offer ${TASK_CONTROL}`,
    met: ({ cards }) => extension(cards['1.0'], TASK_CONTROL) !== undefined,
  },
  reminders: {
    says: `the card does not offer ${REMINDERS}`,
    met: ({ cards }) => extension(cards['1.0'], REMINDERS) !== undefined,
  },
  'user-consent': {
    says: `the card does not offer ${USER_CONSENT}`,
    met: ({ cards }) => extension(cards['1.0'], USER_CONSENT) !== undefined,
  },
}

function declaresExtended(card: unknown): boolean {
  return (
    at(card, 'capabilities.extendedAgentCard') === true ||
    at(card, 'supportsAuthenticatedExtendedCard') === true
  )
}
