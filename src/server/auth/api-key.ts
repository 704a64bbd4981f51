/**
 * API keys: `lull_<id>_<secret>`. The store has the id and a hash of the secret. A secret has 256 random bits, so a plain hash
 * is enough: a random key of this length cannot be guessed, however fast the hash is.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Scope } from '../../core/scopes.ts'
import { ALL_TENANTS } from '../../engine/caller.ts'
import type { Identity } from './identity.ts'

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
