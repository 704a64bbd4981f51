/** API keys in a store that several processes share. Each process reads the list again after a moment. */
import type { Json, MembersOf } from '../../core/json.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { ApiKey } from './api-key.ts'
import { type KeyStore, revoked } from './key-store.ts'

const KEYS = 'auth/keys'
const USED = 'auth/keys-used'

/** How long a revoked key may still be taken by a process that has read the list before. */
const FRESH_MS = 2_000

export function createSharedKeys(store: KeyValueStore, now: () => number): KeyStore {
  let read: { readonly at: number; readonly keys: readonly ApiKey[] } | undefined

  async function newest(): Promise<readonly ApiKey[]> {
    const value = await store.getValue(KEYS)
    // Only `replace` writes it.
    const keys = (Array.isArray(value) ? value : []) as unknown[] as readonly ApiKey[]
    read = { at: now(), keys }
    return keys
  }

  async function replace(keys: readonly MembersOf<ApiKey>[]): Promise<void> {
    await store.setValue(KEYS, JSON.parse(JSON.stringify(keys)) as Json)
    read = undefined
  }

  return {
    list: async () =>
      read !== undefined && now() - read.at < FRESH_MS ? read.keys : await newest(),
    add: async (key) => replace([...(await newest()), key]),
    async revoke(id, at) {
      const next = revoked(await newest(), id, at)
      if (next !== undefined) await replace(next)
      return next !== undefined
    },
    lastUsed: async () => ((await store.getValue(USED)) ?? {}) as Record<string, number>,
    async used(times) {
      const known = (await store.getValue(USED)) ?? {}
      await store.setValue(USED, { ...(known as Record<string, number>), ...times })
    },
  }
}
