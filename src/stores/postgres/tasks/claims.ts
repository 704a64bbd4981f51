import type { Message } from '../../../core/messages/message.ts'
import type { Claim, ClaimKey, ContextMessage } from '../../../ports/store/claims.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Row } from '../connection/database.ts'
import { joined } from '../connection/joined-reads.ts'
import { sendClaim } from './encoded-commit.ts'

type Claims = Pick<Store, 'findClaim' | 'claim' | 'reply' | 'contextMessages'>

export function createClaims(db: Database): Claims {
  const s = db.schema
  const find = joined<ClaimKey, Claim | undefined>(async (keys) => {
    const parts = (['tenant', 'principal', 'agent', 'key'] as const).map((part) =>
      keys.map((key) => toText(key[part])),
    )
    const rows = await db.read(
      `SELECT u.o, c.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
         AS u (tenant, principal, agent, key, o)
       JOIN ${s}.claims c USING (tenant, principal, agent, key)`,
      parts,
    )
    const found = new Map(rows.map((row) => [Number(row['o']) - 1, readClaim(row)]))
    return keys.map((_, n) => found.get(n))
  })

  return {
    findClaim: find,
    async claim(claim) {
      const [tenant, principal, agent, key, ...rest] = sendClaim(claim)
      await db.write(
        `INSERT INTO ${s}.claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
        [tenant, principal, agent, key, toText(claim.taskId), ...rest],
      )
      return (await find(claim)) ?? claim
    },
    async reply(claim, messages) {
      const noClaim = [null, null, null, null, null, null, null, null]
      const claimed = claim === undefined ? noClaim : claimValues(claim)
      const said = messages.map(sendMessage)
      const columns = [0, 1, 2, 3, 4].map((n) => said.map((values) => values[n]))
      await db.writeOnce(
        `SELECT ${s}.reply_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
        // Without an idempotency key, a first attempt cannot be told from its repetition, and the
        // first may be executed last.
        (again) => [again || claim === undefined, ...claimed, ...columns],
      )
    },
    async contextMessages(tenant, principal, contextId, limit, upTo = Number.MAX_SAFE_INTEGER) {
      const rows = await db.read(
        `SELECT pos, at, message FROM ${s}.context_messages
         WHERE tenant = $1 AND principal = $2 AND context_id = $3 AND pos <= $4
         ORDER BY pos DESC LIMIT $5`,
        [toText(tenant), toText(principal), toText(contextId), upTo, limit],
      )
      return rows
        .map((row) => ({
          tenant,
          principal,
          contextId,
          pos: Number(row['pos']),
          at: Number(row['at']),
          message: JSON.parse(String(row['message'])) as Message,
        }))
        .reverse()
    },
  }
}

function claimValues(claim: Claim): readonly (string | number | null)[] {
  const [tenant, principal, agent, key, ...rest] = sendClaim(claim)
  return [tenant, principal, agent, key, toText(claim.taskId), ...rest]
}

function sendMessage({ tenant, principal, contextId, at, message }: ContextMessage) {
  const context = [tenant, principal, contextId].map(toText)
  return [...context, at, JSON.stringify(message)]
}

/** Converts a row of the table, also one that was read as JSON. */
export function readClaim(row: Row): Claim {
  const text = (name: string): string => fromText(String(row[name]))
  return {
    tenant: text('tenant'),
    principal: text('principal'),
    agent: text('agent'),
    key: text('key'),
    taskId: text('task_id'),
    digest: text('digest'),
    createdAt: Number(row['created_at']),
    ...(row['reply'] === null ? {} : { reply: JSON.parse(String(row['reply'])) as Message }),
  }
}
