/** The server of this page: `/ops` for what is seen and done, A2A for messages. */
import { computed, signal } from '@preact/signals'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import { createOps, type Ops } from '../../src/client/ops-client.ts'
import type { Me } from '../../src/wire/ops/server.ts'
import type { TaskSummary } from '../../src/wire/ops/tasks.ts'
import { base } from './base.ts'

const origin = `${location.origin}${base}`

/** The API key that was typed in. It is kept in memory only: no other page and no later visitor can read it. */
export const key = signal<string | undefined>(undefined)
/** The server wants a credential, and has not accepted one yet. */
export const needsKey = signal(false)

/** Who this page acts as, and what the credential allows. */
export const who = signal<Me | undefined>(undefined)

interface Session {
  /** Whether people can sign in with OpenID Connect. */
  readonly signIn: boolean
  /** Present for who has signed in. The cookie itself is not readable here. */
  readonly tenant?: string
  readonly principal?: string
}

export const session = signal<Session>({ signIn: false })

/** Asked before everything else, because it decides how the rest is asked. */
export async function loadSession(): Promise<void> {
  try {
    const response = await fetch(`${base}/auth/session`)
    if (response.ok) session.value = (await response.json()) as Session
  } catch {
    // The server is away. What was known of the session stays.
  }
}

/** Whether this page has a credential of its own: a key, or a session. */
export const hasCredential = computed(
  () => key.value !== undefined || session.value.tenant !== undefined,
)

/** Whether the credential can be put away. That of an app, in which the server is embedded, is the app's matter. */
export const canSignOut = computed(
  () => key.value !== undefined || (session.value.signIn && hasCredential.value),
)

/** Begins the sign-in, and comes back to this page. */
export const signInUrl = (): string =>
  `${base}/auth/login?returnTo=${encodeURIComponent(location.pathname + location.search)}`

/** The key is forgotten with the page, the session is ended. */
export async function signOut(): Promise<void> {
  if (session.value.tenant !== undefined) await fetch(`${base}/auth/logout`, { method: 'POST' })
  location.reload()
}

const headers = (): Readonly<Record<string, string>> =>
  key.value === undefined ? {} : { authorization: `Bearer ${key.value}` }

/** Without a key everybody is the owner and sees all tenants. A key has a tenant of its own. */
const current = computed(() =>
  createOps({ url: origin, headers, ...(hasCredential.value ? {} : { tenant: '*' }) }),
)
export const ops = (): Ops => current.value

export function clientFor({ tenant }: Pick<TaskSummary, 'tenant'>): Client {
  const own = hasCredential.value || tenant === 'default'
  return createClient({ url: origin, headers, tenant: own ? undefined : tenant })
}

export function clientOfAgent(name: string): Client {
  return createClient({ url: `${origin}/agents/${encodeURIComponent(name)}`, headers })
}

export async function emit(
  task: TaskSummary,
  type: string,
  subject: string | undefined,
  data: unknown,
): Promise<void> {
  const query = hasCredential.value ? '' : `?tenant=${encodeURIComponent(task.tenant)}`
  const response = await fetch(`${base}/events${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', ...headers() },
    body: JSON.stringify({
      specversion: '1.0',
      id: crypto.randomUUID(),
      source: 'lull/dashboard',
      type,
      ...(subject === undefined ? {} : { subject }),
      ...(data === undefined ? {} : { data }),
    }),
  })
  if (!response.ok) throw new Error(`The server refused the event (HTTP ${response.status})`)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
