import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryCluster } from '../../stores/memory/memory-cluster.ts'
import { slowToWrite } from '../../testing/slow-writes.ts'
import { knownSigner, receiptKey, signerFor } from './signer.ts'
import { pushKey } from './signing-keys.ts'

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-secrets-'))
})
afterEach(() => rmSync(data, { recursive: true }))

const cluster = createMemoryCluster(() => 0)

it('processes on a shared store sign with the same keys, and keep none in their directories', async () => {
  const places = [1, 2, 3].map(() => ({ data, store: cluster.connect() }))
  const keys = await Promise.all(places.map((place) => receiptKey(place, undefined)))
  expect(keys[0]).toHaveLength(32)
  for (const key of keys) expect(key).toEqual(keys[0])
  const pems = await Promise.all(places.map(pushKey))
  expect(new Set(pems).size).toBe(1)
  expect(readdirSync(data)).toEqual([])
})

it('a process that takes long to make a key signs with the one that another has made meanwhile', async () => {
  let now = 0
  const shared = createMemoryCluster(() => now)
  const key = (store: Store) => receiptKey({ data, store }, undefined)
  let made: Buffer | undefined
  const slow = slowToWrite(shared.connect(), async () => {
    now += 60_000
    made = await key(shared.connect())
  })
  expect(await key(slow)).toEqual(made)
  expect(await key(shared.connect())).toEqual(made)
})

it('a shared store takes over the key that the first process has in its directory', async () => {
  const key = Buffer.alloc(32, 7)
  writeFileSync(join(data, 'receipt.key'), key)
  const shared = createMemoryCluster(() => 0)
  expect(await receiptKey({ data, store: shared.connect() }, undefined)).toEqual(key)
  const elsewhere = { data: join(data, 'none'), store: shared.connect() }
  expect(await receiptKey(elsewhere, undefined)).toEqual(key)
})

it('the key of a shared store verifies after another one was given', async () => {
  const place = { data, store: createMemoryCluster(() => 0).connect() }
  const kept = await signerFor(place, {})
  const given = await signerFor(place, { receiptKey: 'a key that is given later' })
  expect(given.keyId).not.toBe(kept.keyId)
  expect(given.verify('text', kept.sign('text'), kept.keyId)).toBe('genuine')
  expect(given.verifyPublic('text', kept.signPublic('text'), kept.keyId)).toBe('genuine')
})

it('a program that only reads finds the keys that are kept or given, and creates none', async () => {
  const store = createMemoryCluster(() => 0).connect()
  const places = [{ data }, { data, store }]
  for (const place of places) expect(await knownSigner(place, {})).toBeUndefined()
  expect(readdirSync(data)).toEqual([])
  expect(await store.getValue('secrets/receipt.key')).toBeUndefined()
  for (const place of places) {
    const { keyId } = await signerFor(place, {})
    expect((await knownSigner(place, {}))?.keyId).toBe(keyId)
    const given = await knownSigner(place, { receiptKey: 'a key that is given later' })
    expect(given?.publicKeys.map(({ kid }) => kid)).toContain(keyId)
  }
})
