/** SQL storage for replies to stateless messages, and for the message history of a context. */
import type { Message } from '../../../core/messages/message.ts'
import type { ContextMessage } from '../../../ports/store/claims.ts'
import type { Direct } from '../../../ports/store.ts'
import type { Database } from '../files/driver.ts'
import { toText } from '../text.ts'
import type { Transact } from '../transaction.ts'
import type { Claims, EncodedClaim } from './claims.ts'

export interface Replies extends Direct<'contextMessages'> {
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
