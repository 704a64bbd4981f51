/**
 * The key of the server, which signs webhook deliveries and cards with ES256. Its public half is at
 * `/.well-known/jwks.json`.
 */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { LullError } from '../../../core/errors.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { signedPart } from '../../../wire/signed-card.ts'

export interface SigningKey {
  readonly kid: string
  /** The public half. */
  readonly jwk: PublicJwk
  /**
   * The signature of a JWS, in base64url.
   * @param text header and payload in base64url, joined by a dot
   */
  signatureOf(text: string): string
}

export interface PublicJwk {
  readonly kty: string
  readonly crv: string
  readonly x: string
  readonly y: string
  readonly kid: string
  readonly alg: string
  readonly use: string
}

/** @param pem a P-256 private key */
export function createSigningKey(pem: string): SigningKey {
  const key = p256(pem)
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  // RFC 7638 defines these members and their order, so the id of a key is the same everywhere.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
  return {
    kid,
    jwk: { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' },
    // JWS uses the concatenated numbers (IEEE P1363). Node's default encoding is DER.
    signatureOf: (text) =>
      sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
  }
}

export function encoded(value: object | string): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(text).toString('base64url')
}

function p256(pem: string): KeyObject {
  const problem = 'must be the PEM of a P-256 private key'
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (cause) {
    throw new LullError('INVALID_INPUT', { path: 'pushKey', problem }, { cause })
  }
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new LullError('INVALID_INPUT', { path: 'pushKey', problem })
}

/**
 * Signs a card of A2A 1.0 (§8.4) with a JWS over its canonical JSON (RFC 8785). The JWS does not
 * contain the payload.
 */
export type SignCard = (card: object) => object

/** @param jku the address of the public key */
export function createSignCard(key: SigningKey, jku: string): SignCard {
  const header = encoded({ alg: 'ES256', typ: 'JOSE', kid: key.kid, jku })
  return (card) => {
    const payload = encoded(canonical(signedPart(card)))
    const signature = key.signatureOf(`${header}.${payload}`)
    return { ...card, signatures: [{ protected: header, signature }] }
  }
}
