import type { AuditStore, StoredAuditEntry } from '../../ports/store/audit.ts'
import type { Direct } from '../../ports/store.ts'

export type Audit = Direct<keyof AuditStore>

export function createAudit(): Audit {
  /** Entries by id. A `Map` keeps insertion order, which is the order of positions. */
  const entries = new Map<string, string>()
  let last = 0

  const all = (): readonly StoredAuditEntry[] =>
    [...entries.values()].map((text) => JSON.parse(text) as StoredAuditEntry)

  return {
    appendAudit(given) {
      for (const entry of given) {
        if (entries.has(entry.id)) continue
        entries.set(entry.id, JSON.stringify({ ...entry, pos: ++last }))
      }
    },
    audit({ tenant, principal, taskId, since = -Infinity, afterPos, beforePos, limit }) {
      const inOrder = beforePos === undefined ? all() : all().toReversed()
      return inOrder
        .filter((entry) => entry.pos > afterPos && entry.at >= since)
        .filter((entry) => beforePos === undefined || entry.pos < beforePos)
        .filter((entry) => tenant === undefined || entry.tenant === tenant)
        .filter((entry) => principal === undefined || entry.principal === principal)
        .filter((entry) => taskId === undefined || entry.taskId === taskId)
        .slice(0, limit)
    },
    pruneAudit(before, limit) {
      const old = all()
        .filter(({ at }) => at < before)
        .slice(0, limit)
      for (const { id } of old) entries.delete(id)
      return old.length
    },
  }
}
