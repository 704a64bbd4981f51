/**
 * Verifies the signatures of a Lull server: on deliveries to a webhook and on agent cards. Signatures are JWS with ES256
 * (RFC 7515). Other algorithms are refused, whatever a header says.
 */

import { canonical } from '../core/receipts/canonical-json.ts'
import { signedPart } from '../wire/signed-card.ts'
import type { Fetch } from './wire/http-client.ts'
import { isObject, readList, readString } from './wire/json-members.ts'

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
/** How long a signature is valid. The ids of verified deliveries are kept as long. */
const VALID_S = 300
const LONGEST = 8_192

/**
 * For programs that receive the deliveries of a webhook. A delivery is genuine when a key of the server signed it, and the
 * signature names this address and this body, is not older than five minutes, and was not verified before.
 */
export function createPushVerifier(options: PushVerifierOptions): PushVerifier {
  const { now = Date.now, clockSkewSeconds: skew = SKEW_S } = options
  const issuer = options.server.replace(/\/+$/, '')
  const keys = createKeySet(options)
  /** By the id of a verified delivery: when it can be forgotten, in epoch seconds. */
  const seen = new Map<string, number>()

  function isRepeated(jti: string, at: number): boolean {
    for (const [id, until] of seen) if (until < at) seen.delete(id)
    if (seen.has(jti)) return true
    seen.set(jti, at + VALID_S + 2 * skew)
    return false
  }

  async function findProblem(
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
      const claims = decodeJson(payload)
      const problem = await findProblem(claims, delivery)
      if (problem !== undefined) return { ok: false, problem }
      return { ...signed, jti: String((claims as { jti: unknown }).jti) }
    },
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export type CardVerification =
  | { readonly ok: true; readonly kid: string }
  | { readonly ok: false; readonly problem: string }

/**
 * Checks that the server signed the agent card (A2A 1.0 §8.4). One genuine signature is enough. The keys are fetched from
 * `server`, never from an address that the card names.
 * @param card as it was received: `raw` of an `AgentCard`
 */
export async function verifyCard(card: unknown, options: KeySetOptions): Promise<CardVerification> {
  const signatures = isObject(card) ? readList(card, 'signatures') : []
  if (!isObject(card) || signatures.length === 0) return { ok: false, problem: 'has no signature' }
  const keys = createKeySet(options)
  const payload = toBase64Url(canonical(signedPart(card)))
  let last: CardVerification = { ok: false, problem: 'has no signature' }
  for (const one of signatures) {
    const [header = '', signature = ''] = [
      readString(one, 'protected'),
      readString(one, 'signature'),
    ]
    last = await verifyJws(header, payload, signature, keys)
    if (last.ok) return last
  }
  return last
}

type VerifiedJws =
  | { readonly ok: true; readonly kid: string }
  | { readonly ok: false; readonly problem: string }

/** @param payload in base64url, as it was signed */
async function verifyJws(
  header: string,
  payload: string,
  signature: string,
  keys: KeySet,
): Promise<VerifiedJws> {
  const claimed = decodeJson(header)
  if (!isObject(claimed) || claimed['alg'] !== 'ES256' || typeof claimed['kid'] !== 'string') {
    return { ok: false, problem: 'is not signed with ES256 and a named key' }
  }
  const key = await keys(claimed['kid'])
  if (key === undefined)
    return { ok: false, problem: `is signed with an unknown key, ${claimed['kid']}` }
  const bytes = decodeBytes(signature)
  if (bytes === undefined) return { ok: false, problem: 'has a signature that is not base64url' }
  const { subtle } = globalThis.crypto
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const jwk = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y }
  const imported = await subtle.importKey('jwk', jwk, algorithm, false, ['verify'])
  const text = new TextEncoder().encode(`${header}.${payload}`)
  const isGenuine = await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, imported, bytes, text)
  return isGenuine ? { ok: true, kid: key.kid } : { ok: false, problem: 'has a wrong signature' }
}

/** Decodes JSON in base64url. @returns undefined when the text is not that */
function decodeJson(text: string): unknown {
  const bytes = decodeBytes(text)
  try {
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

function toBase64Url(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function decodeBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

interface PublicKey {
  readonly kid: string
  readonly x: string
  readonly y: string
}

export interface KeySetOptions {
  /** The address of the server, without the path of an agent. Its keys are at `/.well-known/jwks.json`. */
  readonly server: string
  readonly fetch?: Fetch | undefined
  /** Epoch milliseconds. Default: the clock of this machine. */
  readonly now?: (() => number) | undefined
}

/** Finds a key by its id. The keys are cached for some minutes. @returns undefined when the server does not have it */
type KeySet = (kid: string) => Promise<PublicKey | undefined>

const FRESH_MS = 300_000
/** An unknown key makes the program fetch the keys again, but not more often than this. */
const COOLDOWN_MS = 30_000

function createKeySet({ server, fetch, now = Date.now }: KeySetOptions): KeySet {
  const url = `${server.replace(/\/+$/, '')}/.well-known/jwks.json`
  const request = fetch ?? globalThis.fetch
  let cached: { readonly at: number; readonly keys: readonly PublicKey[] } | undefined

  async function fetchKeys(): Promise<readonly PublicKey[]> {
    const response = await request(url, {
      redirect: 'error',
      headers: { accept: 'application/json' },
    })
    if (!response.ok) throw new Error(`${url} answers ${response.status}`)
    const document: unknown = await response.json()
    const keys = isObject(document) ? readList(document, 'keys').flatMap(readKey) : []
    cached = { at: now(), keys }
    return keys
  }

  return async (kid) => {
    const age = cached === undefined ? Number.POSITIVE_INFINITY : now() - cached.at
    const find = (keys: readonly PublicKey[]) => keys.find((key) => key.kid === kid)
    const fresh = age < FRESH_MS && cached !== undefined ? find(cached.keys) : undefined
    return fresh ?? (age < COOLDOWN_MS ? undefined : find(await fetchKeys()))
  }
}

/** @returns the key in a list; an empty list unless it is a P-256 key */
function readKey(one: Parameters<typeof readString>[0]): readonly PublicKey[] {
  const [kty, crv, kid, x, y] = ['kty', 'crv', 'kid', 'x', 'y'].map((name) => readString(one, name))
  if (kty !== 'EC' || crv !== 'P-256') return []
  return kid === undefined || x === undefined || y === undefined ? [] : [{ kid, x, y }]
}
