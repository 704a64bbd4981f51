/**
 * Checks deliveries to a webhook, for programs that receive them. A delivery is genuine when its signature is one of the
 * server's, names this address and this body, is not older than five minutes, and was not seen before.
 */
import { jsonIn, verifyJws } from './jws.ts'
import { createKeySet, type KeySetOptions } from './key-set.ts'
import { isObject } from './wire/json-members.ts'

export interface PushVerifierOptions extends KeySetOptions {
  /** How far the clocks of both machines may differ. Default 30. */
  readonly clockSkewSeconds?: number | undefined
}

export interface PushDelivery {
  /** The address of the webhook, as it was given to the server. */
  readonly url: string
  /** The header `x-lull-signature`. */
  readonly signature: string | null | undefined
  /** The body, exactly as it was received. */
  readonly body: string
}

export type PushVerification =
  | { readonly ok: true; readonly kid: string; readonly jti: string }
  | { readonly ok: false; readonly problem: string }

export interface PushVerifier {
  verify(delivery: PushDelivery): Promise<PushVerification>
}

const SKEW_S = 30
/** Signatures are valid for so long. What was seen is kept as long. */
const VALID_S = 300
const LONGEST = 8_192

export function createPushVerifier(options: PushVerifierOptions): PushVerifier {
  const { now = Date.now, clockSkewSeconds: skew = SKEW_S } = options
  const issuer = options.server.replace(/\/+$/, '')
  const keys = createKeySet(options)
  /** When each id that was seen can be forgotten, in seconds. */
  const seen = new Map<string, number>()

  function isRepeated(jti: string, at: number): boolean {
    for (const [known, until] of seen) if (until < at) seen.delete(known)
    if (seen.has(jti)) return true
    seen.set(jti, at + VALID_S + 2 * skew)
    return false
  }

  async function problemIn(
    claims: unknown,
    { url, body }: PushDelivery,
  ): Promise<string | undefined> {
    if (!isObject(claims)) return 'has no claims'
    const { iss, aud, iat, exp, jti, request_body_sha256: digest } = claims
    const at = now() / 1_000
    if (iss !== issuer) return 'is not from this server'
    if (aud !== new URL(url).href) return 'is for another address'
    if (typeof iat !== 'number' || typeof exp !== 'number') return 'has no time'
    if (at > exp + skew || at > iat + VALID_S + skew) return 'is too old'
    if (at < iat - skew) return 'is from the future'
    if (digest !== (await sha256(body))) return 'is for another body'
    if (typeof jti !== 'string' || jti === '') return 'has no id'
    return isRepeated(jti, at) ? 'was seen before' : undefined
  }

  return {
    async verify(delivery) {
      const { signature } = delivery
      const [header, payload, sign, ...more] = (signature ?? '').slice(0, LONGEST).split('.')
      if (header === undefined || payload === undefined || sign === undefined || more.length > 0) {
        return { ok: false, problem: 'has no signature' }
      }
      const signed = await verifyJws(header, payload, sign, keys)
      if (!signed.ok) return signed
      const claims = jsonIn(payload)
      const problem = await problemIn(claims, delivery)
      if (problem !== undefined) return { ok: false, problem }
      return { ...signed, jti: String((claims as { jti: unknown }).jti) }
    },
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
