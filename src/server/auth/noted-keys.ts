/**
 * Records in the audit log which API keys were created and revoked. The command line changes keys
 * without the server, so the server records the changes that it finds: at its start, and whenever
 * it reads a changed list. Each change has its own id and is recorded once, even by several
 * processes.
 */
import type { Audit } from '../../engine/observe/audit.ts'
import type { ApiKey } from './api-key.ts'
import type { KeyStore } from './key-store.ts'

/** The actor of these entries: anybody who can write to the data directory or the database. */
const KEEPER = 'owner'

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
