/**
 * API keys in a store that several processes share. Each process reads the list again after a moment. Changes of the list
 * exclude each other by a duty of the cluster: a change that is lost could be the revocation of a key.
 */
import { z } from 'zod'
import type { Json } from '../../core/json.ts'
import { parse } from '../../engine/parse.ts'
import type { ClusterStore } from '../../ports/store/cluster.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import { exclusively } from '../system/exclusively.ts'
import type { ApiKey } from './api-key.ts'
import { keySchema } from './key-schema.ts'
import { type KeyStore, revoked } from './key-store.ts'

/** The names of the values that keep the keys, and the times of their use. */
export const SHARED_KEYS = 'auth/keys'
export const SHARED_KEYS_USED = 'auth/keys-used'
const keyList = z.array(keySchema)
const times = z.record(z.string(), z.number())

/** How long a revoked key may still be taken by a process that has read the list before. */
const FRESH_MS = 2_000

export function createSharedKeys(
  store: KeyValueStore,
  cluster: Pick<ClusterStore, 'takeDuty'>,
  now: () => number,
): KeyStore {
  let read: { readonly at: number; readonly keys: readonly ApiKey[] } | undefined

  async function newest(): Promise<readonly ApiKey[]> {
    const keys = parse(keyList, (await store.getValue(SHARED_KEYS)) ?? [], SHARED_KEYS)
    read = { at: now(), keys }
    return keys
  }

  /** Returns false when `make` finds nothing to change. */
  const change = (
    make: (keys: readonly ApiKey[]) => readonly ApiKey[] | undefined,
  ): Promise<boolean> =>
    exclusively(cluster, SHARED_KEYS, async () => {
      const next = make(await newest())
      if (next === undefined) return false
      await store.setValue(SHARED_KEYS, JSON.parse(JSON.stringify(next)) as Json)
      read = undefined
      return true
    })

  const lastUsed = async (): Promise<Record<string, number>> =>
    parse(times, (await store.getValue(SHARED_KEYS_USED)) ?? {}, SHARED_KEYS_USED)

  return {
    list: async () =>
      read !== undefined && now() - read.at < FRESH_MS ? read.keys : await newest(),
    async add(key) {
      await change((keys) => [...keys, key])
    },
    revoke: (id, at) => change((keys) => revoked(keys, id, at)),
    lastUsed,
    async used(at) {
      await store.setValue(SHARED_KEYS_USED, { ...(await lastUsed()), ...at })
    },
  }
}
