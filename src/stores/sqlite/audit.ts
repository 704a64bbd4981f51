import type { AuditEntry, AuditQuery, AuditStore } from '../../ports/store/audit.ts'
import { toText } from '../../ports/store/text.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database, Row } from './files/driver.ts'
import type { Transact } from './transaction.ts'

export function createAudit(db: Database, transact: Transact): Direct<keyof AuditStore> {
  const insert = db.prepare(
    `INSERT INTO audit (id, at, tenant, principal, task_id, body) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  )
  const remove = db.prepare(
    'DELETE FROM audit WHERE pos IN (SELECT pos FROM audit WHERE at < ? ORDER BY at LIMIT ?)',
  )
  // The given filters decide which index is used, so each combination has its own statement.
  const list = ({
    tenant,
    principal,
    taskId,
    since,
    order,
    after,
    limit,
  }: AuditQuery): readonly Row[] => {
    const isDescending = order === 'desc'
    const filters: readonly (readonly [string, string | number | undefined])[] = [
      ['tenant = ?', tenant && toText(tenant)],
      ['principal = ?', principal && toText(principal)],
      ['task_id = ?', taskId && toText(taskId)],
      // Entries are nearly ordered by age, so the scan begins near the first one that is wanted.
      ['pos >= (SELECT coalesce(min(pos), 0) FROM audit WHERE at >= ?)', since],
      ['at >= ?', since],
      [
        `pos ${isDescending ? '<' : '>'} coalesce((SELECT pos FROM audit WHERE id = ?), 0)`,
        after && toText(after.id),
      ],
    ]
    const given = filters.filter(([, value]) => value !== undefined)
    // Without a filter, the condition on the position lets SQLite walk the primary key.
    const where = [...given.map(([sql]) => sql), 'pos > 0'].join(' AND ')
    const values = given.flatMap(([, value]) => (value === undefined ? [] : [value]))
    return db
      .prepare(
        `SELECT body FROM audit WHERE ${where} ORDER BY pos ${isDescending ? 'DESC' : 'ASC'} LIMIT ?`,
      )
      .all(...values, limit)
  }
  return {
    appendAudit: (entries) =>
      transact(() => {
        for (const entry of entries) {
          const { id, at, tenant, principal, taskId } = entry
          const texts = [principal, taskId].map((text) =>
            text === undefined ? null : toText(text),
          )
          insert.run(toText(id), at, toText(tenant), ...texts, JSON.stringify(entry))
        }
      }),
    audit: (query) => list(query).map(readEntry),
    pruneAudit: (before, limit) => Number(remove.run(before, limit).changes),
  }
}

function readEntry(row: Row): AuditEntry {
  return JSON.parse(String(row['body'])) as AuditEntry
}
