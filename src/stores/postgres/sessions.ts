import type { SessionRow, SessionStore } from '../../ports/store/sessions.ts'
import { toText } from '../../ports/store/text.ts'
import type { Database, Row, Value } from './connection/database.ts'

export function createSessions(db: Database): Omit<SessionStore, 'pruneSessions'> {
  const s = db.schema
  const write = async (
    session: SessionRow,
    compares: boolean,
    before?: SessionRow,
  ): Promise<boolean> => {
    const [row] = await db.writeOnce(
      `SELECT ${s}.write_session_1($1, $2, $3, $4, $5, $6, $7, $8, $9) AS written`,
      (again) => [
        ...columnsOf(session),
        compares,
        before === undefined ? null : JSON.stringify(before),
        again,
      ],
    )
    return row?.['written'] === true
  }
  return {
    async putSession(session) {
      await write(session, false)
    },
    replaceSession: (before, after) => write(after, true, before),
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
