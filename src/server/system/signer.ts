import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import type { Signer } from '../../core/receipt.ts'

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
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    verify(text, signature, signedWith) {
      if (signedWith !== keyId) return false
      const expected = Buffer.from(sign(text), 'hex')
      const given = Buffer.from(signature, 'hex')
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}

const KEY_BYTES = 32

/** The key: the one that is given, else `receipt.key` in the data directory, made once by whoever has it locked. */
export function receiptKey(data: string, given: string | undefined): Buffer {
  if (given !== undefined && given !== '') return Buffer.from(given)
  const path = join(data, 'receipt.key')
  const known = read(path)
  if (known === undefined) return make(data, path)
  if (known.length >= KEY_BYTES) return known
  const why = `${path} holds no key; restore it from a backup, or remove it (older receipts then cannot be verified)`
  throw new LullError('STORE_UNAVAILABLE', { why })
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Complete under its name or not there at all: a process that dies here must not leave half a key. */
function make(data: string, path: string): Buffer {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const key = randomBytes(KEY_BYTES)
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, key)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
  return key
}
