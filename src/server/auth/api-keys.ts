/**
 * API keys: `lull_<id>_<secret>`. The store has the id and a hash of the secret. A secret has 256 random bits, so a plain hash
 * is enough: a random key of this length cannot be guessed, however fast the hash is.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Scope } from '../../core/scopes.ts'
import { ALL_TENANTS } from '../../engine/caller.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { TokenKind } from './authenticate.ts'
import type { Identity } from './identity.ts'
import type { KeyStore } from './key-store.ts'

/** What is stored of a key. */
export interface ApiKey {
  readonly id: string
  /** SHA-256 of the secret, in hexadecimal digits. */
  readonly hash: string
  readonly tenant: string
  readonly principal: string
  readonly scopes: readonly Scope[]
  /** The only event sources that the key may use. Absent: any. */
  readonly eventSources?: readonly string[] | undefined
  readonly createdAt: number
  /** Absent: the key does not expire. */
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

export type NewKey = Pick<ApiKey, 'tenant' | 'principal' | 'scopes' | 'eventSources' | 'expiresAt'>

export interface Minted {
  readonly kept: ApiKey
  /** The key as text. It is shown once and never stored. */
  readonly key: string
}

export function mintKey(given: NewKey, now: number): Minted {
  const id = randomBytes(8).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  return {
    kept: { id, hash: hashOf(secret), ...given, createdAt: now },
    key: `lull_${id}_${secret}`,
  }
}

const FORM = /^lull_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/

/** Splits a key into its parts. Undefined if the text is not a key. */
export function keyIn(text: string): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = FORM.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

/** Whether the secret belongs to the key, compared in constant time. */
export function isSecretOf({ hash }: ApiKey, secret: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(secret), 'hex'), Buffer.from(hash, 'hex'))
}

export function isValid({ expiresAt, revokedAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt)
}

export function identityOf(key: ApiKey): Identity {
  const { id, tenant, principal, scopes, eventSources } = key
  return {
    tenant,
    principal,
    scopes: new Set(scopes),
    credentialId: id,
    ...(eventSources === undefined ? {} : { eventSources }),
    anyTenant: tenant === ALL_TENANTS,
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

interface KeyAuthentication extends TokenKind {
  /** Writes the times of use that have not been written yet. */
  close(): Promise<void>
}

const NOTE_MS = 60_000

/** Accepts API keys as bearer tokens. The time of use is written at most once a minute. */
export function createKeyAuthentication(
  store: KeyStore,
  clock: Pick<Clock, 'now' | 'after'>,
  log: Log,
): KeyAuthentication {
  let uses: Record<string, number> = {}
  let cancel: (() => void) | undefined

  async function write(): Promise<void> {
    cancel?.()
    cancel = undefined
    const times = uses
    uses = {}
    if (Object.keys(times).length === 0) return
    await store
      .used(times)
      .catch((error: unknown) => log('warn', 'the use of keys was not noted', { error }))
  }

  function note(id: string, at: number): void {
    uses[id] = at
    cancel ??= clock.after(NOTE_MS, () => void write())
  }

  return {
    async identify(token) {
      const given = keyIn(token)
      if (given === undefined) return undefined
      const now = clock.now()
      const key = (await store.list()).find(({ id }) => id === given.id)
      if (key === undefined || !isSecretOf(key, given.secret) || !isValid(key, now)) {
        return undefined
      }
      note(key.id, now)
      return identityOf(key)
    },
    async stillValid(id) {
      const key = (await store.list()).find((one) => one.id === id)
      return key !== undefined && isValid(key, clock.now())
    },
    close: write,
  }
}
