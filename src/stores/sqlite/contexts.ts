/** What belongs to a context besides its tasks: its session, its messages, and replies to stateless messages. */

import type { Message } from '../../core/messages/message.ts'
import type { ContextMessage } from '../../ports/store/claims.ts'
import type { SessionRow } from '../../ports/store/sessions.ts'
import { toText } from '../../ports/store/text.ts'
import type { Direct } from '../../ports/store.ts'
import type { Claims, EncodedClaim } from './claims/claims.ts'
import type { Database, Row } from './files/driver.ts'
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
      return row && readSession(row)
    },
    sessions(tenant, principal, before, limit) {
      const place = [
        before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
        toText(before?.id ?? ''),
      ] as const
      return page.all(toText(tenant), toText(principal), ...place, limit).map(readSession)
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

function readSession(row: Row): SessionRow {
  return JSON.parse(String(row['body'])) as SessionRow
}

/** SQL storage for replies to stateless messages, and for the message history of a context. */
interface Replies extends Direct<'contextMessages'> {
  /**
   * Stores the first reply to a claim and adds its messages to the context. A repeated reply writes
   * nothing.
   */
  reply(claim: EncodedClaim | undefined, messages: readonly ContextMessage[]): void
}

export function createReplies(db: Database, transact: Transact, claims: Claims): Replies {
  const insert = db.prepare(
    `INSERT INTO context_messages (tenant, principal, context_id, at, message) VALUES (?, ?, ?, ?, ?)`,
  )
  const latest = db.prepare(
    `SELECT * FROM context_messages WHERE tenant = ? AND principal = ? AND context_id = ?
     AND pos <= ? ORDER BY pos DESC LIMIT ?`,
  )
  return {
    reply(claim, messages) {
      transact(() => {
        const taken = claim !== undefined && claims.take(claim) !== undefined
        if (taken && !claims.answer(claim)) return
        for (const { tenant, principal, contextId, at, message } of messages) {
          insert.run(
            toText(tenant),
            toText(principal),
            toText(contextId),
            at,
            JSON.stringify(message),
          )
        }
      })
    },
    contextMessages: (tenant, principal, contextId, limit, upTo = Number.MAX_SAFE_INTEGER) =>
      latest
        .all(toText(tenant), toText(principal), toText(contextId), upTo, limit)
        .map((row) => ({
          tenant,
          principal,
          contextId,
          pos: Number(row['pos']),
          at: Number(row['at']),
          message: JSON.parse(String(row['message'])) as Message,
        }))
        .reverse(),
  }
}
