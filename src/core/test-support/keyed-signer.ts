/** A signer for the tests of this folder. HMACs of two keys stand for the HMAC and for the Ed25519 signature. */
import { createHmac } from 'node:crypto'
import type { SignatureVerdict, Signer } from '../receipts/receipt.ts'

export function createKeyedSigner(keyId: string, key: string): Signer {
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('hex')
  const signPublic = (text: string): string =>
    createHmac('sha256', `${key}, for all`).update(text).digest('hex')
  const verdict = (by: string, isSame: boolean): SignatureVerdict => {
    if (by !== keyId) return 'unknown-key'
    return isSame ? 'genuine' : 'wrong'
  }
  const signer: Signer = {
    keyId,
    sign,
    signPublic,
    publicKeys: [],
    verify: (text, signature, by) => verdict(by, sign(text) === signature),
    verifyPublic: (text, signature, by) => verdict(by, signPublic(text) === signature),
    trusting: () => signer,
  }
  return signer
}
