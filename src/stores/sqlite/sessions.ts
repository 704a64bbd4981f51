import type { SessionRow } from '../../ports/store/sessions.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database, Row } from './files/driver.ts'
import { toText } from './text.ts'
import type { Transact } from './transaction.ts'

export function createSessions(
  db: Database,
  transact: Transact,
): Direct<'putSession' | 'replaceSession' | 'session' | 'sessions'> {
  const upsert = db.prepare(
    `INSERT INTO sessions (tenant, principal, id, updated_at, deleted, body) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, principal, id) DO UPDATE SET
       updated_at = excluded.updated_at, deleted = excluded.deleted, body = excluded.body`,
  )
  const select = db.prepare(
    'SELECT body FROM sessions WHERE tenant = ? AND principal = ? AND id = ?',
  )
  const page = db.prepare(
    `SELECT body FROM sessions INDEXED BY sessions_by_update
     WHERE tenant = ? AND principal = ? AND deleted = 0 AND (updated_at, id) < (?, ?)
     ORDER BY updated_at DESC, id DESC LIMIT ?`,
  )
  function putSession(session: SessionRow): void {
    const { updatedAt, deletedAt } = session
    const deleted = deletedAt === undefined ? 0 : 1
    upsert.run(...keyOf(session), updatedAt, deleted, JSON.stringify(session))
  }

  return {
    putSession,
    replaceSession: (before, after) =>
      transact(() => {
        const stored = select.get(...keyOf(after))?.['body']
        if (stored !== (before && JSON.stringify(before))) return false
        putSession(after)
        return true
      }),
    session(tenant, principal, id) {
      const row = select.get(...keyOf({ tenant, principal, id }))
      return row && parsed(row)
    },
    sessions(tenant, principal, before, limit) {
      const place = [
        before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
        toText(before?.id ?? ''),
      ] as const
      return page.all(toText(tenant), toText(principal), ...place, limit).map(parsed)
    },
  }
}

function keyOf({
  tenant,
  principal,
  id,
}: Pick<SessionRow, 'tenant' | 'principal' | 'id'>): readonly [string, string, string] {
  return [toText(tenant), toText(principal), toText(id)]
}

function parsed(row: Row): SessionRow {
  return JSON.parse(String(row['body'])) as SessionRow
}
