/**
 * Sessions of people who signed in. The session is in a sealed cookie of the browser, so every
 * process reads it, and none stores it.
 *
 * C1  The cookie is `HttpOnly` and `SameSite=Strict`, and `Secure` unless the server is on loopback:
 *     no script reads it, and no page of another site makes the browser send it.
 * C2  A page of another origin of the same site could still make the browser send it. So it counts
 *     only on requests of the server's own pages: by `Sec-Fetch-Site`, and for what is not a plain
 *     read by `Origin`. It never counts for a WebSocket.
 * C3  A session has an end. One that was signed out has ended in every process within two seconds:
 *     its id is kept in the store until its end.
 * C4  Another configuration of the sign-in ends every session (`audience` of `createSealed`).
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { isScope, type Scope } from '../../../core/scopes.ts'
import type { Json } from '../../../core/values/json.ts'
import { ALL_TENANTS } from '../../../engine/caller.ts'
import { parse } from '../../../engine/input/parse.ts'
import { changeValue } from '../../../engine/upkeep/change-value.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { ACP_PATH } from '../../acp/acp-mount.ts'
import type { AuthRequest } from '../authenticate.ts'
import type { Identity } from '../identity.ts'
import type { Cookies } from './cookies.ts'
import type { Person } from './granted-identity.ts'
import type { Sealed } from './sealed.ts'
import { isSessionId, SESSION_PREFIX } from './step.ts'

export interface Sessions {
  /** @returns the header that sets the cookie */
  begin(person: Person): Promise<{ readonly id: string; readonly cookie: string }>
  /** Undefined without a valid session. */
  identify(request: AuthRequest): Promise<Identity | undefined>
  /** @returns the header that removes the cookie */
  end(identity: Identity): Promise<string>
  stillValid(credentialId: string): Promise<boolean>
}

export interface SessionDeps {
  readonly sealed: Sealed
  readonly cookies: Cookies
  readonly store: Pick<KeyValueStore, 'getValue' | 'replaceValue'>
  readonly clock: Pick<Clock, 'wall' | 'elapsed'>
  readonly lastsMs: number
}

/** The name of the stored value: the ends of sessions that were signed out, by id. */
const ENDED = 'auth/ended-sessions'
const FRESH_MS = 2_000
const endedIds = z.record(z.string(), z.number())
const content = z.object({
  id: z.string(),
  tenant: z.string(),
  principal: z.string(),
  scopes: z.array(z.string()),
  exp: z.number(),
})

export function createSessions(deps: SessionDeps): Sessions {
  const { sealed, cookies, store, clock, lastsMs } = deps
  let read: { readonly at: number; readonly ids: Readonly<Record<string, number>> } | undefined

  const idsIn = (value: Json | undefined): Readonly<Record<string, number>> =>
    parse(endedIds, value ?? {}, ENDED)

  async function hasEnded(id: string): Promise<boolean> {
    if (read === undefined || clock.elapsed() - read.at >= FRESH_MS) {
      read = { ids: idsIn(await store.getValue(ENDED)), at: clock.elapsed() }
    }
    return Object.hasOwn(read.ids, id)
  }

  return {
    async begin({ tenant, principal, scopes }) {
      const id = `${SESSION_PREFIX}${randomUUID()}`
      const endsAt = clock.wall() + lastsMs
      const text = await sealed.seal('session', { id, tenant, principal, scopes }, endsAt)
      return { id, cookie: cookies.set('session', text, lastsMs) }
    },
    async identify(request) {
      const text = cookies.read('session', request.header('cookie'))
      if (text === undefined || !isOfOwnPage(request)) return undefined
      const opened = content.safeParse(await sealed.open('session', text))
      if (!opened.success || (await hasEnded(opened.data.id))) return undefined
      const { id, tenant, principal, scopes, exp } = opened.data
      return {
        tenant,
        principal,
        scopes: new Set(scopes.filter((one): one is Scope => isScope(one))),
        credentialId: id,
        expiresAt: exp * 1_000,
        anyTenant: tenant === ALL_TENANTS,
      }
    },
    async end({ credentialId = '', expiresAt = 0 }) {
      if (isSessionId(credentialId)) {
        const now = clock.wall()
        await changeValue(store, ENDED, (before) => ({
          ...Object.fromEntries(Object.entries(idsIn(before)).filter(([, end]) => end > now)),
          [credentialId]: expiresAt,
        }))
        read = undefined
      }
      return cookies.clear('session')
    },
    stillValid: async (id) => !(await hasEnded(id)),
  }
}

/** C2. */
function isOfOwnPage(request: AuthRequest): boolean {
  if (request.path === ACP_PATH) return false
  const site = request.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  const origin = request.header('origin')
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (origin === undefined) return isRead
  return URL.canParse(origin) && new URL(origin).host === request.header('host')
}
