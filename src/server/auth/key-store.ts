/**
 * Stores API keys: in `keys.json` in the data directory, which the command line can change while
 * the server runs, or as a value of a store that several processes share.
 */
import type { ApiKey } from './api-key.ts'

export interface KeyStore {
  /** All keys, including revoked and expired ones. */
  list(): Promise<readonly ApiKey[]>
  add(key: ApiKey): Promise<void>
  /** Revokes a key. False if there is no such key. A key that is already revoked keeps its time. */
  revoke(id: string, at: number): Promise<boolean>
  /** When each key was last used, by id. */
  lastUsed(): Promise<Readonly<Record<string, number>>>
  /** Writes times of use. A later time replaces an earlier one. */
  used(times: Readonly<Record<string, number>>): Promise<void>
}

/** Returns a list in which the key is revoked. Undefined if the key does not exist. */
export function revoked(
  keys: readonly ApiKey[],
  id: string,
  at: number,
): readonly ApiKey[] | undefined {
  if (!keys.some((key) => key.id === id)) return undefined
  return keys.map((key) =>
    key.id === id && key.revokedAt === undefined ? { ...key, revokedAt: at } : key,
  )
}
