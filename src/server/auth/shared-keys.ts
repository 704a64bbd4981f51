/**
 * API keys in a store that several processes share. Each process reads the list again after a short
 * time. Changes of the list are never lost (`changeValue`), because one could be the revocation of
 * a key.
 */
import { z } from 'zod'
import type { Json } from '../../core/values/json.ts'
import { parse } from '../../engine/input/parse.ts'
import { changeValue } from '../../engine/upkeep/change-value.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { ApiKey } from './api-keys.ts'
import { type KeyStore, keySchema, revoked } from './key-store.ts'

/** The names of the stored values: the keys, and the times of their use. */
export const SHARED_KEYS = 'auth/keys'
export const SHARED_KEYS_USED = 'auth/keys-used'
const keyList = z.array(keySchema)
const times = z.record(z.string(), z.number())

/**
 * How long a process may still accept a key after it was revoked, because it has read the list
 * before.
 */
const FRESH_MS = 2_000

/** @param elapsed the clock by which the age of the cached list is measured */
export function createSharedKeys(store: KeyValueStore, elapsed: () => number): KeyStore {
  let read: { readonly at: number; readonly keys: readonly ApiKey[] } | undefined

  const keysIn = (value: Json | undefined): readonly ApiKey[] =>
    parse(keyList, value ?? [], SHARED_KEYS)

  async function newest(): Promise<readonly ApiKey[]> {
    const keys = keysIn(await store.getValue(SHARED_KEYS))
    read = { at: elapsed(), keys }
    return keys
  }

  /** Changes the list. Returns false if `make` finds nothing to change. */
  async function change(
    make: (keys: readonly ApiKey[]) => readonly ApiKey[] | undefined,
  ): Promise<boolean> {
    const isChanged = await changeValue(store, SHARED_KEYS, (before) => {
      const next = make(keysIn(before))
      return next && (JSON.parse(JSON.stringify(next)) as Json)
    })
    read = undefined
    return isChanged
  }

  const timesIn = (value: Json | undefined): Record<string, number> =>
    parse(times, value ?? {}, SHARED_KEYS_USED)

  return {
    list: async () =>
      read !== undefined && elapsed() - read.at < FRESH_MS ? read.keys : await newest(),
    async add(key) {
      await change((keys) => (keys.some(({ id }) => id === key.id) ? undefined : [...keys, key]))
    },
    revoke: (id, at) => change((keys) => revoked(keys, id, at)),
    lastUsed: async () => timesIn(await store.getValue(SHARED_KEYS_USED)),
    async used(at) {
      await changeValue(store, SHARED_KEYS_USED, (before) => ({ ...timesIn(before), ...at }))
    },
  }
}
