/**
 * Stores API keys: in `keys.json` in the data directory, which the command line can change while
 * the server runs, or as a value of a store that several processes share.
 */

import { z } from 'zod'
import { type Scope, scopes } from '../../core/scopes.ts'
import type { Audit } from '../../engine/observe/audit.ts'
import type { ApiKey } from './api-keys.ts'

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

/** The schema of a stored key. It is strict, so that nothing else is mistaken for a valid key. */
export const keySchema: z.ZodType<ApiKey> = z.strictObject({
  id: z.string().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  tenant: z.string().min(1),
  principal: z.string().min(1),
  scopes: z.array(z.enum(scopes as [Scope, ...Scope[]])),
  eventSources: z.array(z.string().min(1)).optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  revokedAt: z.number().optional(),
})

/** The actor of these entries: anybody who can write to the data directory or the database. */
const KEEPER = 'owner'

/**
 * Records in the audit log which API keys were created and revoked. The command line changes keys
 * without the server, so the server records the changes that it finds: at its start, and whenever
 * it reads a changed list. Each change has its own id and is recorded once, even by several
 * processes.
 */
export function notedKeys(keys: KeyStore, audit: Pick<Audit, 'note'>): KeyStore {
  const noted = new Set<string>()
  let last: readonly ApiKey[] = []

  function note(key: ApiKey, action: 'key.mint' | 'key.revoke', at: number): void {
    const id = `${action} ${key.id}`
    if (noted.has(id)) return
    noted.add(id)
    const who = { tenant: key.tenant, principal: KEEPER, operator: true } as const
    audit.note({ ...who, action, target: key.id, outcome: 'done' }, { id, at })
  }

  return {
    ...keys,
    async list() {
      const found = await keys.list()
      if (found === last) return found
      last = found
      for (const key of found) {
        note(key, 'key.mint', key.createdAt)
        if (key.revokedAt !== undefined) note(key, 'key.revoke', key.revokedAt)
      }
      return found
    },
  }
}
