/** Makes the client of one agent: from the address of its interface, or from its card. */
import { type AgentCard, chooseInterface, fetchCard } from './card.ts'
import type { CallSignal, Client } from './client.ts'
import { ClientError } from './client-error.ts'
import { createStreams, type Streams } from './tasks/open-streams.ts'
import { createPauseAndResume } from './tasks/pause-and-resume.ts'
import { type AttachedReminders, createAttachedReminders, createReminders } from './tasks/remind.ts'
import { createSending } from './tasks/send-and-answer.ts'
import { createTaskCalls } from './tasks/task-calls.ts'
import { createWatch } from './tasks/watch.ts'
import type { Binding, Version } from './wire/a2a-names.ts'
import { type ConnectionOptions, createHttpClient } from './wire/http-client.ts'
import { createWireReader, type WireReader } from './wire/task-format.ts'
import { createTransport, type Transport } from './wire/transport.ts'

/** What the operations of one client share. */
export interface ClientParts {
  readonly transport: Transport
  readonly read: WireReader
  readonly version: Version
  readonly binding: Binding
  readonly streams: Streams
  readonly attached: AttachedReminders
  readonly waiting: Waiting
  readonly card: (options?: CallSignal) => Promise<AgentCard>
  /** The card, if it has been read. */
  readonly knownCard: () => AgentCard | undefined
}

/** Time and randomness. Tests replace them. */
export interface Waiting {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
}

export interface ClientOptions extends ConnectionOptions {
  /** The address of the interface, such as `https://agents.example.com/agents/painter`. */
  readonly url: string
  /** Default 1.0. */
  readonly version?: Version | undefined
  /** Default JSONRPC. */
  readonly binding?: Binding | undefined
  /** The tenant on the card, if there is one. */
  readonly tenant?: string | undefined
}

export interface ConnectOptions extends ConnectionOptions {
  /** One of several agents behind the address: `/agents/{name}` on a Lull server. */
  readonly agent?: string | undefined
  /** Default: the newest version that both sides support. */
  readonly version?: Version | undefined
  /** Default: the first binding of the card. */
  readonly binding?: Binding | undefined
  /** Replaces the tenant of the card. */
  readonly tenant?: string | undefined
  /** Further origins that the interface may have. Credentials are sent there. */
  readonly origins?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** A client for a known interface. `connect` finds the interface by the card. */
export function createClient(options: ClientOptions): Client {
  return clientWith(options, { sleep, random: Math.random })
}

/**
 * Reads the card at an address and makes a client for the best interface that both sides support.
 * @param url the base URL of an agent, or the URL of its card
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Client> {
  const { agent, version, binding, origins = [], signal } = options
  const { fetch, headers, idleMs } = options
  const address = addressOf(url, agent)
  const card = await fetchCard(createHttpClient(fetch, headers), address, version ?? '1.0', signal)
  const chosen = chooseInterface(card, address, { version, binding, origins })
  const tenant = options.tenant ?? chosen.tenant
  const waiting = { sleep, random: Math.random }
  return clientWith({ ...chosen, tenant, fetch, headers, idleMs }, waiting, card)
}

/** @param card if it has been read already */
export function clientWith(options: ClientOptions, waiting: Waiting, card?: AgentCard): Client {
  const { url, version = '1.0', binding = 'JSONRPC', tenant, idleMs = 60_000 } = options
  const http = createHttpClient(options.fetch, options.headers)
  let cachedCard = card

  const parts: ClientParts = {
    transport: createTransport({ url, version, binding, tenant, http, idleMs }),
    read: createWireReader(version),
    version,
    binding,
    streams: createStreams(),
    attached: createAttachedReminders(),
    waiting,
    knownCard: () => cachedCard,
    async card({ signal } = {}) {
      cachedCard ??= await fetchCard(http, url, version, signal)
      return cachedCard
    },
  }
  const calls = createTaskCalls(parts)
  const { follow, ...watching } = createWatch(parts, calls)
  return {
    url,
    version,
    binding,
    card: parts.card,
    capabilities: async (callOptions) => (await parts.card(callOptions)).capabilities,
    ...calls,
    ...watching,
    ...createSending(parts, calls, follow),
    ...createPauseAndResume(parts, calls, watching),
    ...createReminders(parts),
  }
}

function addressOf(url: string, agent: string | undefined): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ClientError('unreachable', `"${url}" is not an http address`, { reason: 'NOT_A2A' })
  }
  if (agent === undefined) return url
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}/agents/${encodeURIComponent(agent)}`
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
