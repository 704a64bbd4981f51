/**
 * The Ed25519 half of a receipt key. It is derived from the key of the HMAC, so that several
 * processes with the same key agree, only one secret is stored, and former keys verify both
 * signatures.
 */
import {
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import type { PublicKey, SignatureVerdict } from '../../core/receipts/receipt.ts'

/** The bytes in front of the seed in a PKCS #8 key (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SEED_BYTES = 32
/** Only this form is accepted, so that a signature cannot be written in two ways. */
const SIGNATURE = /^[0-9a-f]{128}$/

/** The context of the key derivation. Changing it would change every public key. */
const PURPOSE = 'lull receipts ed25519'

export function privateKeyOf(key: Buffer): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', key, '', PURPOSE, SEED_BYTES))
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
}

export function publicKeyOf(key: Buffer, kid: string): PublicKey {
  const { x = '' } = createPublicKey(privateKeyOf(key)).export({ format: 'jwk' })
  return { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }
}

export function signPublic(text: string, key: KeyObject): string {
  return sign(null, Buffer.from(text), key).toString('hex')
}

type VerifyPublic = (text: string, signature: string, keyId: string) => SignatureVerdict

/** @throws when a key is not an Ed25519 key */
export function verifyWith(keys: readonly PublicKey[]): VerifyPublic {
  const known = new Map(
    keys.map(({ kty, crv, x, kid }) => [
      kid,
      createPublicKey({ key: { kty, crv, x }, format: 'jwk' }),
    ]),
  )
  return (text, signature, keyId) => {
    const key = known.get(keyId)
    if (key === undefined) return 'unknown-key'
    const isGenuine =
      SIGNATURE.test(signature) &&
      verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
    return isGenuine ? 'genuine' : 'wrong'
  }
}
