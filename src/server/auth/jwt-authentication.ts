/**
 * JSON Web Tokens of an issuer as bearer tokens. The issuer's keys are fetched from its JWKS, kept for some minutes, and fetched
 * again when a token names a key that is not among them. Only the algorithms of the configuration are taken, and none of them
 * uses a shared secret, so a public key can never serve as one.
 *
 * Anybody can send a token, so an issuer that hangs must not collect callers: each fetch has a time limit (`guardedFetch`),
 * a bounded number of tokens wait for keys, and after a failure the issuer is left alone for a moment.
 */

import {
  createRemoteJWKSet,
  customFetch,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { isScope } from '../../core/scopes.ts'
import { ALL_TENANTS } from '../../engine/caller.ts'
import type { Log } from '../../ports/log.ts'
import { type JwtConfig, jwtAlgorithms } from './auth-config.ts'
import type { TokenKind } from './authenticate.ts'
import { type GuardedFetch, guardedFetch } from './guarded-fetch.ts'
import type { Identity } from './identity.ts'

const SKEW_S = 30
const CACHE_MS = 600_000
/** A token with an unknown key makes the server ask the issuer, but at most once in this time. */
const COOLDOWN_MS = 30_000
/** Tokens that wait for the keys of the issuer at once. Further ones are refused. */
export const MOST_WAITING = 1_000
/** After a fetch that failed, the issuer is not asked for so long. */
export const PAUSE_MS = 5_000

export function createJwtAuthentication(
  config: JwtConfig,
  deps: { readonly now: () => number; readonly log: Log; readonly fetch?: GuardedFetch },
): TokenKind {
  const { issuer, audience, algorithms = jwtAlgorithms, clockSkewSeconds = SKEW_S } = config
  const fetch = pausing(deps.fetch ?? guardedFetch(config.issuerIsPrivate ?? false), deps.now)
  let waiting = 0
  let keys: Promise<JWTVerifyGetKey> | undefined

  async function keySet(): Promise<JWTVerifyGetKey> {
    const url = config.jwksUrl ?? (await discovered(issuer, fetch))
    return createRemoteJWKSet(new URL(url), {
      cacheMaxAge: CACHE_MS,
      cooldownDuration: COOLDOWN_MS,
      [customFetch]: async (address: string) => fetch(address),
    })
  }

  const keyFor: JWTVerifyGetKey = async (header, input) => {
    if (waiting >= MOST_WAITING) throw new Error('too many tokens wait for the keys of the issuer')
    waiting++
    try {
      keys ??= keySet().catch((error: unknown) => {
        keys = undefined
        throw error
      })
      return await (await keys)(header, input)
    } finally {
      waiting--
    }
  }

  return {
    async identify(token) {
      // Other texts are not JWTs, and the issuer is not asked about them.
      if (token.split('.').length !== 3) return undefined
      try {
        const { payload } = await jwtVerify(token, keyFor, {
          issuer,
          audience,
          algorithms: [...algorithms],
          clockTolerance: clockSkewSeconds,
          currentDate: new Date(deps.now()),
          requiredClaims: ['exp', 'sub'],
        })
        return identityIn(payload, config.tenantClaim ?? 'tenant')
      } catch (error) {
        // The reason is only logged. A caller only learns that the token is not valid.
        deps.log('debug', 'a token was refused', { error })
        return undefined
      }
    },
  }
}

/** Fails at once for a while after a fetch that failed. A clock that was set back ends the pause. */
function pausing(fetch: GuardedFetch, now: () => number): GuardedFetch {
  let failedAt: number | undefined
  return async (address) => {
    const since = failedAt === undefined ? PAUSE_MS : now() - failedAt
    if (since >= 0 && since < PAUSE_MS) throw new Error(`${address} has just failed`)
    try {
      return await fetch(address)
    } catch (error) {
      failedAt = now()
      throw error
    }
  }
}

function identityIn(payload: JWTPayload, tenantClaim: string): Identity | undefined {
  const tenant = payload[tenantClaim] ?? 'default'
  const { sub, exp } = payload
  if (!isName(tenant) || !isName(sub) || tenant === ALL_TENANTS) return undefined
  const named = [payload['scope'], payload['scp']].flatMap(words)
  const ends = exp === undefined ? {} : { expiresAt: exp * 1_000 }
  const sources = payload['event_sources']
  const bound = sources === undefined ? {} : { eventSources: words(sources) }
  return { tenant, principal: sub, scopes: new Set(named.filter(isScope)), ...ends, ...bound }
}

/** Reads `scope`, which is one string (RFC 8693 4.2), but a list for some issuers. */
export function words(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ')
  return Array.isArray(claim) ? claim.filter((one) => typeof one === 'string') : []
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 256
}

async function discovered(issuer: string, fetch: GuardedFetch): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document: unknown = await (await fetch(address)).json()
  const { issuer: named, jwks_uri: url } = document as { issuer?: unknown; jwks_uri?: unknown }
  if (named === issuer && typeof url === 'string') return url
  throw new Error(`${address} is not the document of ${issuer}`)
}
