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
    audit({ tenant, principal, taskId, since = -Infinity, order, after, limit }) {
      const kept = all()
      const from = after === undefined ? undefined : (kept.find(({ id }) => id === after)?.pos ?? 0)
      const isDescending = order === 'desc'
      return (isDescending ? kept.toReversed() : kept)
        .filter(({ pos }) => from === undefined || (isDescending ? pos < from : pos > from))
        .filter((entry) => entry.at >= since)
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
