import type { AuditEntry, AuditStore } from '../../ports/store/audit.ts'
import { toText } from '../../ports/store/text.ts'
import type { Database, Row, Value } from './connection/database.ts'

export function createAudit(db: Database): AuditStore {
  const s = db.schema
  return {
    async appendAudit(entries) {
      await db.write(`SELECT ${s}.append_audit_1($1, $2, $3, $4, $5, $6)`, [
        entries.map(({ id }) => toText(id)),
        entries.map(({ at }) => at),
        entries.map(({ tenant }) => toText(tenant)),
        entries.map(({ principal }) => textOrNull(principal)),
        entries.map(({ taskId }) => textOrNull(taskId)),
        entries.map((entry) => JSON.stringify(entry)),
      ])
    },
    async audit({ tenant, principal, taskId, since, order, after, limit }) {
      const values: Value[] = [limit]
      const where: string[] = ['true']
      const isDescending = order === 'desc'
      const filter = (sql: (n: string) => string, value: Value): void => {
        if (value === undefined) return
        values.push(value)
        where.push(sql(`$${values.length}`))
      }
      filter((n) => `tenant = ${n}`, tenant && toText(tenant))
      filter((n) => `principal = ${n}`, principal && toText(principal))
      filter((n) => `task_id = ${n}`, taskId && toText(taskId))
      // Entries are nearly ordered by age, so the scan begins near the first one that is wanted.
      const first = `SELECT coalesce(min(pos), 0) FROM ${s}.audit WHERE at >=`
      filter((n) => `at >= ${n} AND pos >= (${first} ${n})`, since)
      const compare = isDescending ? '<' : '>'
      filter(
        (n) => `pos ${compare} coalesce((SELECT pos FROM ${s}.audit WHERE id = ${n}), 0)`,
        after === undefined ? undefined : toText(after),
      )
      const rows = await db.read(
        `SELECT pos, body FROM ${s}.audit WHERE ${where.join(' AND ')} ORDER BY pos ${isDescending ? 'DESC' : 'ASC'} LIMIT $1`,
        values,
      )
      return rows.map(parsed)
    },
    async pruneAudit(before, limit) {
      const rows = await db.write(
        `DELETE FROM ${s}.audit WHERE pos IN
           (SELECT pos FROM ${s}.audit WHERE at < $1 ORDER BY at LIMIT $2) RETURNING 1`,
        [before, limit],
      )
      return rows.length
    },
  }
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}

function parsed(row: Row) {
  const entry = JSON.parse(String(row['body'])) as AuditEntry
  return { ...entry, pos: Number(row['pos']) }
}
