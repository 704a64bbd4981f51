/** Signs and verifies receipts. */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import type { PublicKey, SignatureVerdict, Signer, Verifier } from '../../core/receipts/receipt.ts'
import { keySet } from '../routes/task-file.ts'
import { knownSecret, readSecret, type SecretPlace, secretIn } from './secrets.ts'

/**
 * Signs receipts with HMAC-SHA256 and Ed25519. An HMAC is verified with the same key, in another
 * process and after a restart. An Ed25519 signature is verified with the public key alone.
 * @param former keys that signed earlier; they only verify
 * @param trusted public keys of other servers, which verify receipts of imported tasks
 */
export function createSigner(
  key: Buffer,
  former: readonly Buffer[] = [],
  trusted: readonly PublicKey[] = [],
): Signer {
  const keys = new Map([key, ...former].map((one) => [idOf(one), one]))
  const publicKeys = [...keys].map(([id, one]) => publicKeyOf(one, id))
  const privateKey = privateKeyOf(key)
  const signer: Signer = {
    keyId: idOf(key),
    sign: (text) => signed(text, key),
    signPublic: (text) => signPublic(text, privateKey),
    publicKeys,
    verify(text, signature, signedWith) {
      const known = keys.get(signedWith)
      if (known === undefined) return 'unknown-key'
      const expected = Buffer.from(signed(text, known))
      const given = Buffer.from(signature)
      const same = given.length === expected.length && timingSafeEqual(given, expected)
      return same ? 'genuine' : 'wrong'
    },
    // Own keys come last, so that they replace another key with the same id.
    verifyPublic: verifyWith([...trusted, ...publicKeys]),
    trusting: (more) => ({
      ...signer,
      verifyPublic: verifyWith([...more, ...trusted, ...publicKeys]),
    }),
  }
  return signer
}

/** Verifies with public keys alone. @throws when a key is not an Ed25519 key */
export function createPublicVerifier(keys: readonly PublicKey[]): Verifier {
  return {
    verify: () => 'unknown-key',
    verifyPublic: verifyWith(keys),
    trusting: (more) => createPublicVerifier([...more, ...keys]),
  }
}

function signed(text: string, key: Buffer): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

function idOf(key: Buffer): string {
  return createHash('sha256').update('lull-receipt-key:').update(key).digest('hex').slice(0, 16)
}

export interface GivenKeys {
  /** The signing key. Default: `receipt.key`. */
  readonly receiptKey?: string | undefined
  /** Keys that signed before. */
  readonly formerReceiptKeys?: readonly string[] | undefined
  /** Files with the public keys of other servers, as `/.well-known/lull-receipt-keys.json` has them. */
  readonly trustedReceiptKeys?: readonly string[] | undefined
}

/** Creates the signer of a process. The caller must have locked the data directory. */
export async function signerFor(place: SecretPlace, given: GivenKeys): Promise<Signer> {
  const { receiptKey: own, formerReceiptKeys = [], trustedReceiptKeys = [] } = given
  const trusted = trustedReceiptKeys.flatMap(keysInFile)
  const key = await receiptKey(place, own)
  return createSigner(key, await formerKeys(place, formerReceiptKeys), trusted)
}

/** The signer of a read-only program, which creates no key. Undefined if no key is known. */
export async function knownSigner(
  place: SecretPlace,
  { receiptKey: own, formerReceiptKeys = [], trustedReceiptKeys = [] }: GivenKeys,
): Promise<Signer | undefined> {
  const given = own === undefined || own === '' ? [] : [checked(Buffer.from(own))]
  const [key, ...former] = [...given, ...(await formerKeys(place, formerReceiptKeys))]
  return key && createSigner(key, former, trustedReceiptKeys.flatMap(keysInFile))
}

/** @throws LullError `INVALID_INPUT` if the file is not a set of Ed25519 keys */
function keysInFile(path: string): readonly PublicKey[] {
  try {
    const { keys } = keySet.parse(JSON.parse(readFileSync(path, 'utf8')))
    verifyWith(keys)
    return keys
  } catch (cause) {
    const problem = `${path} has no set of receipt keys, such as /.well-known/lull-receipt-keys.json of a server`
    throw new LullError('INVALID_INPUT', { path: 'LULL_TRUSTED_RECEIPT_KEYS', problem }, { cause })
  }
}

/**
 * Keys that verify old receipts: the given ones, and those of the directory and the database, which
 * signed before another key was configured.
 */
async function formerKeys(place: SecretPlace, given: readonly string[]): Promise<Buffer[]> {
  const kept = [
    await knownSecret(place, 'receipt.key'),
    readSecret(join(place.data, 'receipt.key')),
  ]
  return [...kept.flatMap((one) => one ?? []), ...given.map((text) => Buffer.from(text))]
}

const KEY_BYTES = 32
/** A shorter key could be found by brute force from a single receipt. */
const SHORTEST_BYTES = 16

/**
 * The given key, or else `receipt.key`, which is created once. The caller must have locked the data
 * directory.
 */
export async function receiptKey(place: SecretPlace, given: string | undefined): Promise<Buffer> {
  if (given !== undefined && given !== '') return checked(Buffer.from(given))
  const key = await secretIn(place, 'receipt.key', () => randomBytes(KEY_BYTES))
  if (key.length >= KEY_BYTES) return key
  const path = join(place.data, 'receipt.key')
  const why = `${path} holds no key; restore it from a backup, or remove it (older receipts then cannot be verified)`
  throw new LullError('STORE_UNAVAILABLE', { why })
}

function checked(key: Buffer): Buffer {
  if (key.length >= SHORTEST_BYTES && new Set(key).size > 1) return key
  const problem = `can be guessed; give ${SHORTEST_BYTES} random bytes or more, such as \`openssl rand -base64 32\` prints`
  throw new LullError('INVALID_INPUT', { path: 'LULL_RECEIPT_KEY', problem })
}

/** The bytes in front of the seed in a PKCS #8 key (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SEED_BYTES = 32
/** Only this form is accepted, so that a signature cannot be written in two ways. */
const SIGNATURE = /^[0-9a-f]{128}$/

/** The context of the key derivation. Changing it would change every public key. */
const PURPOSE = 'lull receipts ed25519'

/**
 * The Ed25519 half of a receipt key. It is derived from the key of the HMAC, so that several
 * processes with the same key agree, only one secret is stored, and former keys verify both
 * signatures.
 */
function privateKeyOf(key: Buffer): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', key, '', PURPOSE, SEED_BYTES))
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
}

function publicKeyOf(key: Buffer, kid: string): PublicKey {
  const { x = '' } = createPublicKey(privateKeyOf(key)).export({ format: 'jwk' })
  return { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }
}

function signPublic(text: string, key: KeyObject): string {
  return sign(null, Buffer.from(text), key).toString('hex')
}

type VerifyPublic = (text: string, signature: string, keyId: string) => SignatureVerdict

/** @throws when a key is not an Ed25519 key */
function verifyWith(keys: readonly PublicKey[]): VerifyPublic {
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
