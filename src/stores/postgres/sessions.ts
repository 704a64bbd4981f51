import type { SessionRow, SessionStore } from '../../ports/store/sessions.ts'
import { toText } from '../../ports/store/text.ts'
import type { Database, Row, Value } from './connection/database.ts'

export function createSessions(db: Database): Omit<SessionStore, 'pruneSessions'> {
  const s = db.schema
  const upsert = `INSERT INTO ${s}.sessions AS x (tenant, principal, id, updated_at, deleted, body)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, principal, id) DO UPDATE
    SET updated_at = excluded.updated_at, deleted = excluded.deleted, body = excluded.body`
  // With $7 (again), an earlier attempt may already have written the session.
  const insertion = `${upsert} WHERE $7 AND x.body = excluded.body RETURNING 1`
  const change = `UPDATE ${s}.sessions SET updated_at = $4, deleted = $5, body = $6
    WHERE tenant = $1 AND principal = $2 AND id = $3 AND (body = $8 OR ($7 AND body = $6)) RETURNING 1`
  return {
    async putSession(session) {
      await db.write(upsert, columnsOf(session))
    },
    async replaceSession(before, after) {
      const written = await db.writeOnce(before === undefined ? insertion : change, (again) => [
        ...columnsOf(after),
        again,
        ...(before === undefined ? [] : [JSON.stringify(before)]),
      ])
      return written.length > 0
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

function columnsOf(session: SessionRow): readonly Value[] {
  const { tenant, principal, id, updatedAt, deletedAt } = session
  const key = [tenant, principal, id].map(toText)
  return [...key, updatedAt, deletedAt !== undefined, JSON.stringify(session)]
}

function parsed(row: Row): SessionRow {
  return JSON.parse(String(row['body'])) as SessionRow
}
