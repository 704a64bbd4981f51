/** Agent cards: finding, reading, and choosing an interface. */
import type { JsonObject } from '../core/json.ts'
import { type Capabilities, readCapabilities } from './capabilities.ts'
import { ClientError, notA2A } from './client-error.ts'
import { type Binding, bindings, type Version, versions } from './version.ts'
import { refusalOfStatus } from './wire/error-format.ts'
import type { Http } from './wire/http-client.ts'
import { isObject, listIn, present, textIn } from './wire/json-members.ts'

export interface AgentInterface {
  readonly url: string
  readonly version: Version
  readonly binding: Binding
  readonly tenant?: string
}

export interface AgentCard {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly capabilities: Capabilities
  /** The interfaces that this client supports, in the order of the card. */
  readonly interfaces: readonly AgentInterface[]
  /** The whole card as it was received. */
  readonly raw: JsonObject
}

/** A URL that ends in `.json` is the address of a card. Any other URL is a base with the card at a well-known path. */
export function cardUrls(url: string): readonly string[] {
  if (/\.json$/.test(new URL(url).pathname)) return [url]
  const { origin, pathname } = new URL(url)
  const base = `${origin}${pathname.replace(/\/+$/, '')}/.well-known`
  // The second name is that of versions before 0.3.
  return [`${base}/agent-card.json`, `${base}/agent.json`]
}

export async function fetchCard(
  http: Http,
  url: string,
  version: Version,
  signal?: AbortSignal,
): Promise<AgentCard> {
  const [first = url, second] = cardUrls(url)
  const headers = { accept: 'application/json', 'a2a-version': version }
  const ask = (address: string): Promise<Response> =>
    http.send({ url: address, method: 'GET', headers, signal })
  let at = first
  let response = await ask(first)
  if (response.status === 404 && second !== undefined) {
    await response.body?.cancel()
    at = second
    response = await ask(second)
  }
  const text = await http.textOf(at, response, signal)
  if (!response.ok) {
    throw refusalOfStatus(response.status) ?? notA2A(`no card at ${first}`, response.status)
  }
  return readCard(text, at)
}

function readCard(text: string, url: string): AgentCard {
  const raw = parsed(text)
  if (!isObject(raw)) throw notA2A(`no card at ${url}`)
  return {
    name: textIn(raw, 'name') ?? '',
    description: textIn(raw, 'description') ?? '',
    version: textIn(raw, 'version') ?? '',
    capabilities: readCapabilities(raw),
    interfaces: interfacesIn(raw, url),
    raw,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Version 1.0 has `supportedInterfaces`, version 0.3 flat fields. `supportedInterfaces` decides when a card has both. */
function interfacesIn(card: JsonObject, base: string): readonly AgentInterface[] {
  const listed = listIn(card, 'supportedInterfaces')
  if (listed.length > 0) {
    return listed.flatMap((one) =>
      usable(
        textIn(one, 'url'),
        textIn(one, 'protocolBinding'),
        textIn(one, 'protocolVersion'),
        base,
        textIn(one, 'tenant'),
      ),
    )
  }
  const version = textIn(card, 'protocolVersion') ?? '0.3'
  const preferred = usable(
    textIn(card, 'url'),
    textIn(card, 'preferredTransport') ?? 'JSONRPC',
    version,
    base,
  )
  const others = listIn(card, 'additionalInterfaces').flatMap((one) =>
    usable(textIn(one, 'url'), textIn(one, 'transport'), version, base),
  )
  return [...preferred, ...others]
}

function usable(
  url: string | undefined,
  transport: string | undefined,
  protocolVersion: string | undefined,
  base: string,
  tenant?: string,
): readonly AgentInterface[] {
  const binding = bindings.find((one) => one === transport)
  // Patch digits do not matter (A2A 1.0 §3.6).
  const spoken = /^\d+\.\d+/.exec(protocolVersion ?? '')?.[0]
  const version = versions.find((one) => one === spoken)
  if (url === undefined || binding === undefined || version === undefined) return []
  if (!URL.canParse(url, base)) return []
  const { href } = new URL(url, base)
  if (!/^https?:/.test(href)) return []
  return [
    present<AgentInterface>({
      url: href,
      version,
      binding,
      tenant: tenant === '' ? undefined : tenant,
    }),
  ]
}

export interface Choice {
  readonly version?: Version | undefined
  readonly binding?: Binding | undefined
  /** Further origins that an interface of the card may have. */
  readonly origins: readonly string[]
}

/** The newest version first, then the order of the card. */
export function chooseInterface(card: AgentCard, at: string, choice: Choice): AgentInterface {
  const fits = card.interfaces.filter(
    ({ version, binding }) =>
      (choice.version ?? version) === version && (choice.binding ?? binding) === binding,
  )
  const [best] = versions.flatMap((version) => fits.filter((one) => one.version === version))
  if (best === undefined) {
    const wanted = [choice.version ?? '1.0 or 0.3', choice.binding ?? 'JSONRPC or HTTP+JSON']
    throw new ClientError(
      'unsupported',
      `The card of ${card.name} has no interface for A2A ${wanted.join(' over ')}`,
      { reason: 'NOT_SUPPORTED' },
    )
  }
  const [from, to] = [originOf(at), originOf(best.url)]
  if (from === to || choice.origins.map(originOf).includes(to)) return best
  throw new ClientError('unsupported', `The card at ${from} leads to another origin, ${to}`, {
    reason: 'ORIGIN_NOT_ALLOWED',
  })
}

/** The names of the loopback address count as one origin. */
function originOf(url: string): string {
  return new URL(url).origin.replace(/\/\/(localhost|\[::1\])(?=:|$)/, '//127.0.0.1')
}
