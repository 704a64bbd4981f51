import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import type { Signer } from '../../core/receipt.ts'
import { type SecretPlace, secretIn } from './secrets.ts'

/** Signs receipts with HMAC-SHA256. Verification needs the same key: in another process, and after a restart. */
export function createSigner(key: Buffer): Signer {
  const keyId = createHash('sha256')
    .update('lull-receipt-key:')
    .update(key)
    .digest('hex')
    .slice(0, 16)
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('hex')
  return {
    keyId,
    sign,
    hash: (text) => hash('sha256', text),
    verify(text, signature, signedWith) {
      if (signedWith !== keyId) return false
      const expected = Buffer.from(sign(text), 'hex')
      const given = Buffer.from(signature, 'hex')
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}

const KEY_BYTES = 32

/** The given key, else `receipt.key`, which is created once. The caller has the lock on the data directory. */
export async function receiptKey(place: SecretPlace, given: string | undefined): Promise<Buffer> {
  if (given !== undefined && given !== '') return Buffer.from(given)
  const key = await secretIn(place, 'receipt.key', () => randomBytes(KEY_BYTES))
  if (key.length >= KEY_BYTES) return key
  const path = join(place.data, 'receipt.key')
  const why = `${path} holds no key; restore it from a backup, or remove it (older receipts then cannot be verified)`
  throw new LullError('STORE_UNAVAILABLE', { why })
}
