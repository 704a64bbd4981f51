/**
 * Signs people in with OpenID Connect.
 *
 *   /auth/login     seals state, nonce and PKCE verifier into a cookie, sends the browser to the provider
 *   /auth/callback  the provider sends it back; the answer must be the one to that cookie
 *   /dashboard      has a session in a cookie of its own
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import type { Audit } from '../../../engine/observe/audit.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../ports/log.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import type { OidcConfig } from '../auth-config.ts'
import type { Identity } from '../identity.ts'
import { createCookies } from './cookies.ts'
import { personIn } from './granted-identity.ts'
import { createProvider, type Login, type Provider, ProviderDown } from './provider.ts'
import { createSealed } from './sealed.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { SignInRefused, type Step } from './step.ts'

export interface SignIn extends Pick<Sessions, 'identify' | 'stillValid'> {
  /**
   * @param returnTo where the browser goes afterwards: a path of the dashboard
   * @throws SignInRefused
   */
  begin(returnTo: string | undefined): Promise<Step>
  /**
   * @param search the query with which the provider sent the browser back
   * @param cookie the `Cookie` header
   * @throws SignInRefused
   */
  finish(search: string, cookie: string | undefined): Promise<Step>
  /** @returns the cookie to set */
  end(identity: Identity): Promise<string>
}

export interface SignInDeps {
  readonly key: () => Promise<Uint8Array>
  readonly store: Pick<KeyValueStore, 'getValue' | 'replaceValue'>
  readonly clock: Pick<Clock, 'wall' | 'elapsed'>
  readonly log: Log
  readonly audit?: Pick<Audit, 'note'> | undefined
  /** The public address of the server, without a slash at its end. */
  readonly url: string
  readonly secret: string | undefined
}

export const CALLBACK_PATH = '/auth/callback'
const HOME = '/dashboard/'
/** How long somebody may take at the provider. */
const LOGIN_MS = 600_000
const HOUR_MS = 3_600_000
const HOURS = 12

const loginContent = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
})

export function createSignIn(config: OidcConfig, deps: SignInDeps): SignIn {
  const { clock, log, url, audit } = deps
  const provider = createProvider(config, deps.secret, `${url}${CALLBACK_PATH}`)
  const sealed = createSealed(deps.key, audienceOf(config), clock.wall)
  const cookies = createCookies(url.startsWith('https:'))
  const lastsMs = (config.sessionHours ?? HOURS) * HOUR_MS
  const sessions = createSessions({ ...deps, sealed, cookies, lastsMs })

  function refused(error: unknown): SignInRefused {
    if (error instanceof SignInRefused) return error
    const down = causeThatIs(error)
    log('warn', 'a sign-in failed', { error })
    if (down !== undefined) {
      const text = `The sign-in provider cannot be reached: ${down.message}. Try again later, or use a key.`
      return new SignInRefused(503, text, error)
    }
    return new SignInRefused(400, 'The provider did not confirm this sign-in. Start again.', error)
  }

  async function claimsFor(search: string, login: Login): ReturnType<Provider['finish']> {
    return provider.finish(new URL(`${url}${CALLBACK_PATH}${search}`), login)
  }

  return {
    identify: sessions.identify,
    stillValid: sessions.stillValid,
    async begin(returnTo) {
      try {
        const { location, login } = await provider.begin()
        const content = { ...login, returnTo: safePath(returnTo, url) }
        const text = await sealed.seal('login', content, clock.wall() + LOGIN_MS)
        return { location, cookies: [cookies.set('login', text, LOGIN_MS)] }
      } catch (error) {
        throw refused(error)
      }
    },
    async finish(search, cookie) {
      const text = cookies.read('login', cookie)
      const opened = loginContent.safeParse(text && (await sealed.open('login', text)))
      if (!opened.success) {
        const why = 'This sign-in was not begun in this browser, or has ended. Start again.'
        throw new SignInRefused(400, why)
      }
      const claims = await claimsFor(search, opened.data).catch((error: unknown) => {
        throw refused(error)
      })
      const person = personIn(claims, config)
      if (person === undefined) {
        log('warn', 'a person who signed in has no rights here', { subject: claims.sub })
        const why = 'You are signed in at the provider, but nothing here is open to you.'
        throw new SignInRefused(403, `${why} Ask an operator of this server for a grant.`)
      }
      const { id, cookie: session } = await sessions.begin(person)
      const { tenant, principal } = person
      audit?.note({ tenant, principal, action: 'session.begin', target: id, outcome: 'done' })
      return {
        location: safePath(opened.data.returnTo, url),
        cookies: [session, cookies.clear('login')],
      }
    },
    async end(identity) {
      const cookie = await sessions.end(identity)
      const { tenant, principal, credentialId } = identity
      const target = credentialId === undefined ? {} : { target: credentialId }
      audit?.note({ tenant, principal, action: 'session.end', ...target, outcome: 'done' })
      return cookie
    },
  }
}

/** The path, if it is one of the dashboard of this server, or else the dashboard itself. */
function safePath(given: string | undefined, url: string): string {
  if (given === undefined || !/^\/dashboard(?:\/|$)/.test(given) || !URL.canParse(given, url)) {
    return HOME
  }
  const { origin, pathname, search, hash } = new URL(given, url)
  const isOurs = origin === new URL(url).origin && /^\/dashboard(?:\/|$)/.test(pathname)
  return isOurs ? `${pathname}${search}${hash}` : HOME
}

function audienceOf(config: OidcConfig): string {
  return createHash('sha256').update(canonical(config)).digest('base64url')
}

function causeThatIs(error: unknown): ProviderDown | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof ProviderDown) return one
  }
  return undefined
}
