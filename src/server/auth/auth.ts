/** Builds the authentication of a server from its configuration. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Audit } from '../../engine/observe/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { Store } from '../../ports/store.ts'
import type { SecurityOptions } from '../../protocols/a2a/index.ts'
import { isLoopback } from '../http/guard.ts'
import { StartError } from '../process/start-error.ts'
import { secretIn } from '../system/secrets.ts'
import { createKeyAuthentication } from './api-keys.ts'
import type { AuthConfig, JwtConfig, OidcConfig } from './auth-config.ts'
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
import type { SignIn } from './sign-in/sign-in.ts'
import { isSessionId } from './sign-in/step.ts'

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
  /** Signs people in to the dashboard. Loaded on use. Undefined: not configured. */
  readonly signIn?: (() => Promise<SignIn>) | undefined
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
  readonly store: KeyValueStore & Pick<Store, 'cluster'>
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'wall' | 'after'>
  /** The public address of the server. */
  readonly url: string
  /** The secret of this server at the OpenID Connect provider. */
  readonly oidcSecret?: string | undefined
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
  { modes = [], jwt, proxy, oidc }: AuthConfig,
  custom: AuthenticateRequest | undefined,
  deps: AuthDeps,
): Auth {
  if (modes.length === 0 && custom === undefined && proxy === undefined && oidc === undefined) {
    return open
  }
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
  const signIn = oidc && loadedSignIn(oidc, deps)
  const byProxy = proxy === undefined ? () => undefined : createProxyAuthentication(proxy)
  return {
    async authenticate(request) {
      const session =
        signIn && mayHaveSession(request) ? (await signIn()).identify(request) : undefined
      const known = (await bearer(request)) ?? (await session) ?? (await byProxy(request))
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
    signIn,
    stillValid: async (id) =>
      isSessionId(id)
        ? ((await (await signIn?.())?.stillValid(id)) ?? false)
        : ((await keys?.stillValid?.(id)) ?? true),
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

const SESSION_KEY_BYTES = 32

/** @throws StartError if the cookies of a session would be sent in clear text */
function loadedSignIn(config: OidcConfig, deps: AuthDeps): () => Promise<SignIn> {
  const { data, store, url, oidcSecret: secret = config.clientSecret } = deps
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
    throw new StartError(
      `Sign-in needs HTTPS, and the address of this server is ${url}. Set publicUrl, or LULL_PUBLIC_URL, to its https address.`,
    )
  }
  let key: Promise<Uint8Array> | undefined
  const readKey = (): Promise<Uint8Array> => {
    key ??= secretIn({ data, store }, 'session.key', () => randomBytes(SESSION_KEY_BYTES)).catch(
      (error: unknown) => {
        key = undefined
        throw error
      },
    )
    return key
  }
  let loaded: Promise<SignIn> | undefined
  return () => {
    loaded ??= import('./sign-in/sign-in.ts').then(({ createSignIn }) =>
      createSignIn(config, { ...deps, secret, key: readKey }),
    )
    return loaded
  }
}

/** Most requests have a bearer token or nothing, so the sign-in is not loaded for them. */
function mayHaveSession(request: AuthRequest): boolean {
  if (request.header('authorization') !== undefined) return false
  return request.header('cookie')?.includes('lull-session=') ?? false
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
