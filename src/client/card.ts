/** Agent cards: fetches and reads a card with its capabilities, and chooses an interface of it. */

import type { Propagate, RoleHint } from '../core/reminders/reminders.ts'
import { type PauseMode, pauseModes, type ResumeCause, resumeCauses } from '../core/suspension.ts'
import type { JsonObject } from '../core/values/json.ts'
import { ClientError, notA2A } from './client-error.ts'
import {
  type Binding,
  bindings,
  REMINDERS,
  TASK_CONTROL,
  USER_CONSENT,
  type Version,
  versions,
} from './wire/a2a-names.ts'
import { errorOfStatus } from './wire/error-format.ts'
import type { HttpClient } from './wire/http-client.ts'
import {
  isObject,
  isTrue,
  omitUndefined,
  parseJson,
  readList,
  readObject,
  readString,
  readStrings,
} from './wire/json-members.ts'

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

export interface Capabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  /** `pause` and `resume`. Absent on the card means no. */
  readonly pause: boolean
  readonly modes: readonly PauseMode[]
  /** An agent or a worker can park a task. */
  readonly awaitResumption: boolean
  readonly resumeCauses: readonly ResumeCause[]
  /** A pause may say what wakes the task: an event, a schedule, a deadline. */
  readonly conditions: boolean
  readonly reminders: ReminderCapabilities
  /** A consent has an id, and the answer names it. */
  readonly consent: boolean
}

export interface ReminderCapabilities {
  readonly inject: boolean
  readonly emit: boolean
  readonly propagate: readonly Propagate[]
  readonly roleHints: readonly RoleHint[]
}

/** A URL that ends in `.json` is the address of a card. Any other URL is a base with the card at a well-known path. */
export function cardUrls(url: string): readonly string[] {
  if (/\.json$/.test(new URL(url).pathname)) return [url]
  const { origin, pathname } = new URL(url)
  const base = `${origin}${pathname.replace(/\/+$/, '')}/.well-known`
  // Agents of versions before 0.3 have their card at the second address.
  return [`${base}/agent-card.json`, `${base}/agent.json`]
}

export async function fetchCard(
  http: HttpClient,
  url: string,
  version: Version,
  signal?: AbortSignal,
): Promise<AgentCard> {
  const [first = url, second] = cardUrls(url)
  const headers = { accept: 'application/json', 'a2a-version': version }
  const request = (address: string): Promise<Response> =>
    http.send({ url: address, method: 'GET', headers, signal })
  let address = first
  let response = await request(first)
  if (response.status === 404 && second !== undefined) {
    await response.body?.cancel()
    address = second
    response = await request(second)
  }
  const text = await http.textOf(address, response, signal)
  if (!response.ok) {
    throw errorOfStatus(response.status) ?? notA2A(`no card at ${first}`, response.status)
  }
  return readCard(text, address)
}

function readCard(text: string, url: string): AgentCard {
  const raw = parseJson(text)
  if (!isObject(raw)) throw notA2A(`no card at ${url}`)
  return {
    name: readString(raw, 'name') ?? '',
    description: readString(raw, 'description') ?? '',
    version: readString(raw, 'version') ?? '',
    capabilities: readCapabilities(raw),
    interfaces: readInterfaces(raw, url),
    raw,
  }
}

/** Cards of 0.3 may have the fields of the RFCs. Cards of both versions may have parameters of extensions. */
function readCapabilities(card: JsonObject): Capabilities {
  const listed = readObject(card, 'capabilities')
  const control = readExtension(listed, TASK_CONTROL)
  const reminders = readExtension(listed, REMINDERS) ?? readObject(listed, 'reminders')
  const causes = readWords(control ?? listed, 'resumeCauses', resumeCauses)
  return {
    streaming: isTrue(listed, 'streaming'),
    pushNotifications: isTrue(listed, 'pushNotifications'),
    pause: isTrue(control, 'pause') || isTrue(listed, 'supportsPause'),
    modes: readWords(control, 'modes', pauseModes),
    awaitResumption: isTrue(control, 'selfPark') || isTrue(listed, 'supportsAwaitResumption'),
    resumeCauses: causes,
    conditions: causes.includes('condition_fired') || causes.includes('timeout'),
    reminders: {
      inject: isTrue(reminders, 'inject'),
      emit: isTrue(reminders, 'emit'),
      propagate: readWords(reminders, 'propagate', ['session', 'none', 'all']),
      roleHints: readWords(reminders, 'roleHints', ['system', 'developer']),
    },
    consent: readExtension(listed, USER_CONSENT) !== undefined,
  }
}

/** @returns the parameters of the extension; undefined when the card does not list it */
function readExtension(capabilities: JsonObject | undefined, uri: string): JsonObject | undefined {
  const extensions = readList(capabilities, 'extensions')
  const extension = extensions.find((one) => readString(one, 'uri') === uri)
  return extension === undefined ? undefined : (readObject(extension, 'params') ?? {})
}

/** The words of a list that this client knows. */
function readWords<W extends string>(
  value: JsonObject | undefined,
  name: string,
  words: readonly W[],
): readonly W[] {
  const listed = readStrings(value, name)
  return words.filter((word) => listed.includes(word))
}

/** Version 1.0 has `supportedInterfaces`, version 0.3 flat fields. `supportedInterfaces` decides when a card has both. */
function readInterfaces(card: JsonObject, base: string): readonly AgentInterface[] {
  const listed = readList(card, 'supportedInterfaces')
  if (listed.length > 0) {
    return listed.flatMap((one) =>
      supportedInterface(
        readString(one, 'url'),
        readString(one, 'protocolBinding'),
        readString(one, 'protocolVersion'),
        base,
        readString(one, 'tenant'),
      ),
    )
  }
  const version = readString(card, 'protocolVersion') ?? '0.3'
  const preferred = supportedInterface(
    readString(card, 'url'),
    readString(card, 'preferredTransport') ?? 'JSONRPC',
    version,
    base,
  )
  const others = readList(card, 'additionalInterfaces').flatMap((one) =>
    supportedInterface(readString(one, 'url'), readString(one, 'transport'), version, base),
  )
  return [...preferred, ...others]
}

/** @returns the interface in a list; an empty list when this client does not support it */
function supportedInterface(
  url: string | undefined,
  transport: string | undefined,
  protocolVersion: string | undefined,
  base: string,
  tenant?: string,
): readonly AgentInterface[] {
  const binding = bindings.find((one) => one === transport)
  // Patch digits do not matter (A2A 1.0 §3.6).
  const majorMinor = /^\d+\.\d+/.exec(protocolVersion ?? '')?.[0]
  const version = versions.find((one) => one === majorMinor)
  if (url === undefined || binding === undefined || version === undefined) return []
  // Only 1.0 has an address without scheme and path (A2A #1997). Whether it has TLS, the address of the card says.
  if (binding === 'GRPC' && version !== '1.0') return []
  const address = binding === 'GRPC' ? `${new URL(base).protocol}//${url}` : url
  if (!URL.canParse(address, base)) return []
  const { href } = new URL(address, base)
  if (!/^https?:/.test(href)) return []
  const named = tenant === '' ? undefined : tenant
  return [omitUndefined<AgentInterface>({ url: href, version, binding, tenant: named })]
}

export interface Choice {
  readonly version?: Version | undefined
  readonly binding?: Binding | undefined
  /** Further origins that an interface of the card may have. */
  readonly origins: readonly string[]
}

/** Prefers bindings of HTTP, then the newest version, then the order of the card. @param cardUrl the address of the card */
export function chooseInterface(card: AgentCard, cardUrl: string, choice: Choice): AgentInterface {
  const fitting = card.interfaces.filter(
    ({ version, binding }) =>
      (choice.version ?? version) === version && (choice.binding ?? binding) === binding,
  )
  const [best] = [false, true].flatMap((isGrpc) =>
    versions.flatMap((version) =>
      fitting.filter((one) => one.version === version && (one.binding === 'GRPC') === isGrpc),
    ),
  )
  if (best === undefined) {
    const wanted = [choice.version ?? '1.0 or 0.3', choice.binding ?? 'JSONRPC, HTTP+JSON or GRPC']
    throw new ClientError(
      'unsupported',
      `The card of ${card.name} has no interface for A2A ${wanted.join(' over ')}`,
      { reason: 'NOT_SUPPORTED' },
    )
  }
  const [from, to] = [originOf(cardUrl), originOf(best.url)]
  if (from === to || choice.origins.map(originOf).includes(to)) return best
  throw new ClientError('unsupported', `The card at ${from} leads to another origin, ${to}`, {
    reason: 'ORIGIN_NOT_ALLOWED',
  })
}

/** The names of the loopback address count as one origin. */
function originOf(url: string): string {
  return new URL(url).origin.replace(/\/\/(localhost|\[::1\])(?=:|$)/, '//127.0.0.1')
}
