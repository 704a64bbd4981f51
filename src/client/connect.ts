/** Reads the card at an address and makes a client for the best interface that both sides support. */
import { chooseInterface, fetchCard } from './card.ts'
import type { Client } from './client.ts'
import { ClientError } from './client-error.ts'
import { type ConnectionOptions, clientWith, ownFetch, sleep } from './create-client.ts'
import type { Binding, Version } from './version.ts'
import { createHttp } from './wire/http-client.ts'

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

/** @param url the base URL of an agent, or the URL of its card */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Client> {
  const { agent, version, binding, origins = [], signal } = options
  const base = addressOf(url, agent)
  const http = createHttp(options.fetch ?? ownFetch, options.headers)
  const card = await fetchCard(http, base, version ?? '1.0', signal)
  const chosen = chooseInterface(card, base, { version, binding, origins })
  const { fetch, headers, idleMs } = options
  const tenant = options.tenant ?? chosen.tenant
  const waiting = { sleep, random: Math.random }
  return clientWith({ ...chosen, tenant, fetch, headers, idleMs }, waiting, card)
}

function addressOf(url: string, agent: string | undefined): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ClientError('unreachable', `"${url}" is not an http address`, { reason: 'NOT_A2A' })
  }
  if (agent === undefined) return url
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}/agents/${encodeURIComponent(agent)}`
}
