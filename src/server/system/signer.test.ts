import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createPublicVerifier, createSigner, receiptKey, signerFor } from './signer.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-key-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

it('makes a key once, readable by its owner alone', async () => {
  const key = await receiptKey({ data: directory }, undefined)
  expect(key).toHaveLength(32)
  expect(await receiptKey({ data: directory }, undefined)).toEqual(key)
  expect(readdirSync(directory)).toEqual(['receipt.key'])
  expect(statSync(join(directory, 'receipt.key')).mode & 0o777).toBe(0o600)
})

it('takes the key it is given, and keeps nothing', async () => {
  expect((await receiptKey({ data: directory }, 'a secret of some length')).toString()).toBe(
    'a secret of some length',
  )
  expect(readdirSync(directory)).toEqual([])
})

it('refuses to sign with a key that is not one', async () => {
  writeFileSync(join(directory, 'receipt.key'), '')
  await expect(receiptKey({ data: directory }, undefined)).rejects.toThrow('holds no key')
})

it.each(['x', 'short', 'a'.repeat(64), '123456789012345'])(
  'refuses the key %j, which can be guessed, with one sentence',
  async (given) => {
    await expect(receiptKey({ data: directory }, given)).rejects.toThrow(
      /^LULL_RECEIPT_KEY: can be guessed; give 16 random bytes or more, such as `openssl rand -base64 32` prints$/,
    )
  },
)

it('tells a key that it does not have from a forged signature', () => {
  const signer = createSigner(Buffer.from('secret'))
  const signature = signer.sign('text')
  expect(signer.verify('text', signature, signer.keyId)).toBe('genuine')
  expect(signer.verify('text!', signature, signer.keyId)).toBe('wrong')
  expect(signer.verify('text', 'ff', signer.keyId)).toBe('wrong')
  const other = createSigner(Buffer.from('other'))
  expect(other.verify('text', signature, signer.keyId)).toBe('unknown-key')
})

it('verifies with former keys, and signs with the newest', async () => {
  const place = { data: directory }
  const first = await signerFor(place, {})
  const second = await signerFor(place, { receiptKey: 'the second key, given' })
  const third = await signerFor(place, {
    receiptKey: 'the third key, given as well',
    formerReceiptKeys: ['the second key, given'],
  })
  for (const signer of [first, second, third]) {
    expect(third.verify('text', signer.sign('text'), signer.keyId)).toBe('genuine')
  }
  expect(third.keyId).not.toBe(second.keyId)
  expect(second.verify('text', third.sign('text'), third.keyId)).toBe('unknown-key')
})

it('derives the same Ed25519 key from the same secret, in every process and version', () => {
  const key = Buffer.from('the key of the fixtures')
  const [first, second] = [createSigner(key), createSigner(key)]
  expect(second.signPublic('text')).toBe(first.signPublic('text'))
  // This key verifies receipts that exist. It never changes.
  expect(first.publicKeys).toEqual([
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: '15rvrl_FcUfucSLiETMipThHzrrsXx4EmSPkwFgfSvY',
      kid: '9c0434f59cd31098',
      alg: 'EdDSA',
      use: 'sig',
    },
  ])
})

it('publishes former keys too, and no secret', async () => {
  const given = { receiptKey: 'the second key, given', formerReceiptKeys: ['the first key, given'] }
  const { publicKeys, keyId } = await signerFor({ data: directory }, given)
  const former = createSigner(Buffer.from('the first key, given'))
  expect(publicKeys.map(({ kid }) => kid)).toEqual([keyId, former.keyId])
  for (const key of publicKeys) {
    expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  }
})

it('lets a reader with the public key alone find every change of a bit in a signature', () => {
  const signer = createSigner(Buffer.from('secret'))
  const { verify, verifyPublic } = createPublicVerifier(signer.publicKeys)
  const signature = signer.signPublic('text')
  expect(verifyPublic('text', signature, signer.keyId)).toBe('genuine')
  expect(verifyPublic('text!', signature, signer.keyId)).toBe('wrong')
  expect(verifyPublic('text', signature, 'another')).toBe('unknown-key')
  expect(verify('text', signer.sign('text'), signer.keyId)).toBe('unknown-key')
  for (let bit = 0; bit < signature.length * 8; bit++) {
    const bytes = Buffer.from(signature)
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    if (verifyPublic('text', bytes.toString(), signer.keyId) !== 'wrong') expect.fail(`bit ${bit}`)
  }
})
