import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryCluster, type MemoryCluster } from '../../stores/memory/memory-cluster.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { slowToWrite } from '../../testing/slow-writes.ts'
import { createKeyAuthentication, mintKey, type NewKey } from './api-keys.ts'
import { createKeyFile } from './key-file.ts'
import type { KeyStore } from './key-store.ts'
import { createSharedKeys } from './shared-keys.ts'

let data: string
let clock: ManualClock
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-keys-'))
  clock = createManualClock()
})
afterEach(() => rmSync(data, { recursive: true }))

function sharedKeys(
  shared: MemoryCluster,
  connection: (store: Store) => Store = (store) => store,
): KeyStore {
  return createSharedKeys(connection(shared.connect()), clock.now)
}

const wanted: NewKey = { tenant: 'acme', principal: 'ci', scopes: ['tasks:read'] }
const stores: Readonly<Record<string, () => KeyStore>> = {
  'the data directory': () => createKeyFile(data),
  'a shared store': () => sharedKeys(createMemoryCluster(clock.now)),
}

describe.each(Object.entries(stores))('keys in %s', (_, open) => {
  const opened = () => {
    const store = open()
    return { store, keys: createKeyAuthentication(store, clock, () => undefined) }
  }

  it('identify whoever has the secret, and nobody else', async () => {
    const { store, keys } = opened()
    const { kept, key } = mintKey(wanted, clock.now())
    await store.add(kept)
    expect(await keys.identify(key)).toEqual({
      tenant: 'acme',
      principal: 'ci',
      scopes: new Set(['tasks:read']),
      credentialId: kept.id,
      anyTenant: false,
    })
    const other = mintKey(wanted, clock.now()).key
    const forged = `lull_${kept.id}_${other.split('_').slice(2).join('_')}`
    for (const wrong of [other, forged, key.slice(0, -1), `${key}x`, '', 'lull_', kept.hash]) {
      expect(await keys.identify(wrong)).toBeUndefined()
    }
  })

  it('end when they are revoked, and when they expire', async () => {
    const { store, keys } = opened()
    const first = mintKey(wanted, clock.now())
    const second = mintKey({ ...wanted, expiresAt: clock.now() + 1_000 }, clock.now())
    await store.add(first.kept)
    await store.add(second.kept)
    expect(await keys.identify(second.key)).toBeDefined()
    clock.advance(2_000)
    expect(await keys.identify(second.key)).toBeUndefined()
    expect(await keys.stillValid?.(second.kept.id)).toBe(false)
    expect(await keys.stillValid?.(first.kept.id)).toBe(true)
    expect(await store.revoke(first.kept.id, clock.now())).toBe(true)
    expect(await keys.identify(first.key)).toBeUndefined()
    expect(await keys.stillValid?.(first.kept.id)).toBe(false)
    expect(await store.revoke('none', clock.now())).toBe(false)
  })

  it('say when they were used last', async () => {
    const { store, keys } = opened()
    const { kept, key } = mintKey(wanted, clock.now())
    await store.add(kept)
    await keys.identify(key)
    expect(await store.lastUsed()).toEqual({})
    await keys.close()
    expect(await store.lastUsed()).toEqual({ [kept.id]: clock.now() })
  })
})

describe('the file of keys', () => {
  it('has no secret, and only its owner can read it', async () => {
    const { kept, key } = mintKey(wanted, 1)
    await createKeyFile(data).add(kept)
    const file = join(data, 'keys.json')
    // The secret may itself have underscores.
    const secret = key.split('_').slice(2).join('_')
    expect(secret.length).toBeGreaterThan(20)
    expect(readFileSync(file, 'utf8')).not.toContain(secret)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is seen by a process that runs, when another one changes it', async () => {
    const [server, command] = [createKeyFile(data), createKeyFile(data)]
    expect(await server.list()).toEqual([])
    const { kept } = mintKey(wanted, 1)
    await command.add(kept)
    expect(await server.list()).toEqual([kept])
    await command.revoke(kept.id, 2)
    expect(await server.list()).toEqual([{ ...kept, revokedAt: 2 }])
  })

  it('loses no key when many are made at once', async () => {
    const made = Array.from({ length: 20 }, () => mintKey(wanted, 1).kept)
    await Promise.all(made.map((kept) => createKeyFile(data).add(kept)))
    const ids = (await createKeyFile(data).list()).map(({ id }) => id)
    expect(ids.sort()).toEqual(made.map(({ id }) => id).sort())
  })

  it('is refused when it is not what was written', async () => {
    writeFileSync(join(data, 'keys.json'), '{"keys":[{"id":"a","hash":"","scopes":[]}]}')
    await expect(createKeyFile(data).list()).rejects.toThrow('keys.json cannot be read')
  })
})

it('two processes that change the list at once lose no key and no revocation', async () => {
  const shared = createMemoryCluster(clock.now)
  const [one, two] = [sharedKeys(shared), sharedKeys(shared)]
  const first = mintKey(wanted, clock.now()).kept
  await one.add(first)
  const more = Array.from({ length: 10 }, () => mintKey(wanted, clock.now()).kept)
  await Promise.all([
    two.revoke(first.id, 1),
    ...more.map((key, index) => (index % 2 === 0 ? one : two).add(key)),
  ])
  const kept = await sharedKeys(shared).list()
  expect(kept).toHaveLength(11)
  expect(kept.find(({ id }) => id === first.id)?.revokedAt).toBe(1)
})

it('a process that takes long to change the list takes back no revocation of another one', async () => {
  const shared = createMemoryCluster(clock.now)
  const [first, second] = [mintKey(wanted, 1).kept, mintKey(wanted, 1).kept]
  const quick = sharedKeys(shared)
  await quick.add(first)
  const slow = sharedKeys(shared, (store) =>
    slowToWrite(store, async () => {
      clock.advance(60_000)
      await quick.revoke(first.id, 2)
    }),
  )
  await slow.add(second)
  expect(await slow.list()).toEqual([{ ...first, revokedAt: 2 }, second])
})

it('refuses a list in the store that is not one of keys', async () => {
  const shared = createMemoryCluster(clock.now)
  await shared.connect().setValue('auth/keys', [{ id: 'x', scopes: 'all' }])
  await expect(sharedKeys(shared).list()).rejects.toThrow('auth/keys')
})
