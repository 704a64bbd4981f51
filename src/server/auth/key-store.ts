/**
 * Where API keys are kept. With a data directory: `keys.json` in it, which the command line can change while the server runs.
 * With a store that several processes share: a value of that store.
 */
import type { ApiKey } from './api-key.ts'

export interface KeyStore {
  /** All keys, also those that are revoked or expired. */
  list(): Promise<readonly ApiKey[]>
  add(key: ApiKey): Promise<void>
  /** False when there is no such key. A key that is revoked already keeps its time. */
  revoke(id: string, at: number): Promise<boolean>
  /** When each key was used last, by id. */
  lastUsed(): Promise<Readonly<Record<string, number>>>
  /** Notes the use of keys. A later note wins. */
  used(times: Readonly<Record<string, number>>): Promise<void>
}

/** The change of a list that revokes a key; undefined when the key is not there. */
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
