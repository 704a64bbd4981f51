/** Builds the authentication of a server from its configuration. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Audit } from '../../engine/observe/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { Store } from '../../ports/store.ts'
import type { SecurityOptions } from '../../protocols/a2a/index.ts'
import { StartError } from '../process/start-error.ts'
import { createKeyAuthentication } from './api-keys.ts'
import type { AuthConfig, JwtConfig } from './auth-config.ts'
import {
  type Authenticate,
  type AuthenticateRequest,
  type AuthRequest,
  byBearer,
  type TokenKind,
} from './authenticate.ts'
import { owner } from './identity.ts'
import { createKeyFile } from './key-file.ts'
import { type KeyStore, notedKeys } from './key-store.ts'
import { createProxyAuthentication } from './proxy-authentication.ts'
import { createSharedKeys } from './shared-keys.ts'

export interface Auth {
  readonly authenticate: Authenticate
  /** Whether authentication is configured. */
  readonly isOn: boolean
  /**
   * The token in `lull.address`, with which another process of the owner authenticates. Undefined
   * if none is needed.
   */
  readonly ownerToken: string | undefined
  /** How callers authenticate. Shown on agent cards. */
  readonly security: SecurityOptions
  /** Whether the credential of a stream or socket is still valid. */
  stillValid(credentialId: string): Promise<boolean>
  close(): Promise<void>
}

export interface AuthDeps {
  readonly data: string
  /**
   * The store that keeps the keys if several processes share it. Otherwise keys are in the data
   * directory.
   */
  readonly store?: (KeyValueStore & Pick<Store, 'cluster'>) | undefined
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'wall' | 'after'>
  readonly log: Log
  /** Records in the audit log which keys were created and revoked. */
  readonly audit?: Pick<Audit, 'note'> | undefined
}

const open: Auth = {
  authenticate: () => owner,
  isOn: false,
  ownerToken: undefined,
  security: {},
  stillValid: async () => true,
  close: async () => undefined,
}

/** @throws StartError when something is missing in the configuration */
export function createAuth(
  { modes = [], jwt, proxy }: AuthConfig,
  custom: AuthenticateRequest | undefined,
  deps: AuthDeps,
): Auth {
  if (modes.length === 0 && custom === undefined && proxy === undefined) return open
  const { clock, log } = deps
  const ownerToken = randomBytes(32).toString('base64url')
  const keys = modes.includes('keys')
    ? createKeyAuthentication(notedStore(deps), clock, log)
    : undefined
  const tokens = modes.includes('jwt')
    ? loadedTokens(jwtConfig(jwt), { now: clock.wall, log })
    : undefined
  const kinds: TokenKind[] = [ofOwner(ownerToken)]
  if (keys !== undefined) kinds.push(keys)
  if (tokens !== undefined) kinds.push(tokens)
  const bearer = byBearer(kinds)
  const byProxy = proxy === undefined ? () => undefined : createProxyAuthentication(proxy)
  return {
    async authenticate(request) {
      const known = (await bearer(request)) ?? (await byProxy(request))
      return known ?? (custom && identified(await custom(detached(request))))
    },
    isOn: true,
    ownerToken,
    security: {
      bearerKeys: keys !== undefined,
      mutualTls: proxy !== undefined,
      ...(tokens === undefined || jwt === undefined
        ? {}
        : { bearer: { format: 'JWT', openIdUrl: discoveryOf(jwt) } }),
    },
    stillValid: async (id) => (await keys?.stillValid?.(id)) ?? true,
    close: async () => keys?.close(),
  }
}

/** Loaded when the first token arrives, because most servers accept none. */
function loadedTokens(
  jwt: JwtConfig,
  deps: { readonly now: () => number; readonly log: Log },
): TokenKind {
  let loaded: Promise<TokenKind> | undefined
  return {
    async identify(token) {
      loaded ??= import('./jwt-authentication.ts').then(({ createJwtAuthentication }) =>
        createJwtAuthentication(jwt, deps),
      )
      return (await loaded).identify(token)
    },
  }
}

function notedStore(deps: AuthDeps): KeyStore {
  const { audit, log } = deps
  const keys = keyStore(deps)
  if (audit === undefined) return keys
  const noted = notedKeys(keys, audit)
  noted.list().catch((error: unknown) => log('warn', 'keys could not be read', { error }))
  return noted
}

function keyStore({ data, store, clock }: AuthDeps): KeyStore {
  return store?.cluster === undefined ? createKeyFile(data) : createSharedKeys(store, clock.elapsed)
}

function jwtConfig(jwt: JwtConfig | undefined): JwtConfig {
  if (jwt !== undefined) return jwt
  throw new StartError('Tokens need auth.jwt in the configuration file: issuer and audience.')
}

function discoveryOf({ issuer }: JwtConfig): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

/** Recognises the owner's token. It is in a file that only the owner can read. */
function ofOwner(expected: string): TokenKind {
  const wanted = Buffer.from(expected)
  return {
    async identify(token) {
      const given = Buffer.from(token)
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? owner : undefined
    },
  }
}

/**
 * Copies the request into an object whose members work on their own, because a function of the
 * embedder may destructure it.
 */
function detached(request: AuthRequest): AuthRequest {
  const { method, path, peer } = request
  return {
    method,
    path,
    peer,
    header: (name) => request.header(name),
    all: (name) => request.all?.(name) ?? [],
  }
}

function identified(said: Awaited<ReturnType<AuthenticateRequest>>) {
  if (said === undefined) return undefined
  const { scopes, ...rest } = said
  return { ...rest, scopes: new Set(scopes) }
}
