import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSigner, receiptKey } from './signer.ts'

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
  expect((await receiptKey({ data: directory }, 'secret')).toString()).toBe('secret')
  expect(readdirSync(directory)).toEqual([])
})

it('refuses to sign with a key that is not one', async () => {
  writeFileSync(join(directory, 'receipt.key'), '')
  await expect(receiptKey({ data: directory }, undefined)).rejects.toThrow('holds no key')
})

it('verifies what was signed with the same key, and nothing else', () => {
  const signer = createSigner(Buffer.from('secret'))
  const signature = signer.sign('text')
  expect(signer.verify('text', signature, signer.keyId)).toBe(true)
  expect(signer.verify('text!', signature, signer.keyId)).toBe(false)
  expect(signer.verify('text', 'ff', signer.keyId)).toBe(false)
  const other = createSigner(Buffer.from('other'))
  expect(other.verify('text', signature, signer.keyId)).toBe(false)
})
