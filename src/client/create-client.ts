/** Composes the client. */
import { type AgentCard, fetchCard } from './card.ts'
import type { Client } from './client.ts'
import type { ClientParts, Waiting } from './parts.ts'
import { createReceipts } from './receipts.ts'
import { createAttached } from './reminder-shapes.ts'
import { createStreams } from './tasks/open-streams.ts'
import { createControl } from './tasks/pause-and-resume.ts'
import { createReminders } from './tasks/remind.ts'
import { createSending } from './tasks/send-and-answer.ts'
import { createReading } from './tasks/task-calls.ts'
import type { Binding, Version } from './version.ts'
import { createWatch } from './watch.ts'
import { createHttp, type Fetch, type HeaderSource } from './wire/http-client.ts'
import { createWireReader } from './wire/task-format.ts'
import { createTransport } from './wire/transport.ts'

/** How requests are made. */
export interface ConnectionOptions {
  /** Credentials for every request. A function is called for each request, and again after a 401. */
  readonly headers?: HeaderSource | undefined
  readonly fetch?: Fetch | undefined
  /** A stream without data for this long is closed and continued. Default 60,000; Lull sends a heartbeat every 15 s. */
  readonly idleMs?: number | undefined
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

/** A client for a known interface. `connect` finds the interface by the card. */
export function createClient(options: ClientOptions): Client {
  return clientWith(options, { sleep, random: Math.random })
}

export function clientWith(options: ClientOptions, waiting: Waiting, given?: AgentCard): Client {
  const { url, version = '1.0', binding = 'JSONRPC', tenant, idleMs = 60_000 } = options
  const http = createHttp(options.fetch ?? ownFetch, options.headers)
  let known = given

  const parts: ClientParts = {
    transport: createTransport({ url, version, binding, tenant, http, idleMs }),
    read: createWireReader(version),
    version,
    binding,
    streams: createStreams(),
    attached: createAttached(),
    waiting,
    knownCard: () => known,
    async card({ signal } = {}) {
      known ??= await fetchCard(http, url, version, signal)
      return known
    },
  }
  const reading = createReading(parts)
  const { follow, ...watching } = createWatch(parts, reading)
  return {
    url,
    version,
    binding,
    card: parts.card,
    capabilities: async (asked) => (await parts.card(asked)).capabilities,
    ...reading,
    ...watching,
    ...createSending(parts, reading, follow),
    ...createControl(parts, reading, watching),
    ...createReminders(parts),
    ...createReceipts(parts),
  }
}

/** Reads the global at each call: browsers require the call on the window, and programs may replace it. */
export const ownFetch: Fetch = (url, init) => globalThis.fetch(url, init)

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', over)
      resolve()
    }, ms)
    if (signal.aborted) over()
    else signal.addEventListener('abort', over, { once: true })
  })
}
