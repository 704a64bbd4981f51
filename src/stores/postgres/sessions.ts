import type { SessionRow } from '../../ports/store/sessions.ts'
import { toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database, Row } from './database.ts'

export function createSessions(db: Database): Pick<Store, 'putSession' | 'session' | 'sessions'> {
  const s = db.schema
  return {
    async putSession(session) {
      const { tenant, principal, id, updatedAt, deletedAt } = session
      const key = [tenant, principal, id].map(toText)
      await db.write(
        `INSERT INTO ${s}.sessions (tenant, principal, id, updated_at, deleted, body)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tenant, principal, id) DO UPDATE
         SET updated_at = excluded.updated_at, deleted = excluded.deleted, body = excluded.body`,
        [...key, updatedAt, deletedAt !== undefined, JSON.stringify(session)],
      )
    },
    async session(tenant, principal, id) {
      const [row] = await db.read(
        `SELECT body FROM ${s}.sessions WHERE tenant = $1 AND principal = $2 AND id = $3`,
        [tenant, principal, id].map(toText),
      )
      return row && parsed(row)
    },
    async sessions(tenant, principal, before, limit) {
      const place = [before?.updatedAt ?? Number.MAX_SAFE_INTEGER, toText(before?.id ?? '')]
      const rows = await db.read(
        `SELECT body FROM ${s}.sessions
         WHERE tenant = $1 AND principal = $2 AND NOT deleted AND (updated_at, id) < ($3, $4)
         ORDER BY updated_at DESC, id DESC LIMIT $5`,
        [toText(tenant), toText(principal), ...place, limit],
      )
      return rows.map(parsed)
    },
  }
}

function parsed(row: Row): SessionRow {
  return JSON.parse(String(row['body'])) as SessionRow
}
