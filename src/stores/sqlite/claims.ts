import type { Message } from '../../core/message.ts'
import type { Claim, ContextMessage } from '../../ports/task-store.ts'
import type { Database, Row } from './driver.ts'
import { fromText, toText } from './text.ts'
import type { Transact } from './transaction.ts'

export type ClaimKey = Pick<Claim, 'tenant' | 'principal' | 'agent' | 'key'>

export interface Claims {
  find(key: ClaimKey): Claim | undefined
  /** Claims the key unless it is taken. `claim` is whoever has it now; `fresh` when that is new. */
  take(claim: Claim): { readonly claim: Claim; readonly fresh: boolean }
  drop(key: ClaimKey): void
  /** The first reply to a claim stays; a repeated one changes nothing, its messages included. */
  reply(claim: Claim | undefined, messages: readonly ContextMessage[]): void
  messages(
    tenant: string,
    principal: string,
    contextId: string,
    limit: number,
  ): readonly ContextMessage[]
}

export function createClaims(db: Database, transact: Transact): Claims {
  const byKey = 'tenant = ? AND principal = ? AND agent = ? AND key = ?'
  const select = db.prepare(`SELECT * FROM claims WHERE ${byKey}`)
  const remove = db.prepare(`DELETE FROM claims WHERE ${byKey}`)
  const insert = db.prepare(
    `INSERT INTO claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const answer = db.prepare(
    `UPDATE claims SET reply = ? WHERE ${byKey} AND task_id = ? AND reply IS NULL`,
  )
  const say = db.prepare(
    `INSERT INTO context_messages (tenant, principal, context_id, at, message) VALUES (?, ?, ?, ?, ?)`,
  )
  const latest = db.prepare(
    `SELECT * FROM context_messages WHERE tenant = ? AND principal = ? AND context_id = ?
     ORDER BY pos DESC LIMIT ?`,
  )

  function find(key: ClaimKey): Claim | undefined {
    const row = select.get(...keyOf(key))
    return row && toClaim(row)
  }

  function take(claim: Claim): { readonly claim: Claim; readonly fresh: boolean } {
    const { changes } = insert.run(
      ...keyOf(claim),
      toText(claim.taskId),
      toText(claim.digest),
      claim.createdAt,
      replyOf(claim),
    )
    if (Number(changes) === 1) return { claim, fresh: true }
    return { claim: find(claim) ?? claim, fresh: false }
  }

  function reply(claim: Claim | undefined, messages: readonly ContextMessage[]): void {
    transact(() => {
      if (claim !== undefined && !take(claim).fresh) {
        const { changes } = answer.run(replyOf(claim), ...keyOf(claim), toText(claim.taskId))
        if (Number(changes) === 0) return
      }
      for (const { tenant, principal, contextId, at, message } of messages) {
        say.run(toText(tenant), toText(principal), toText(contextId), at, JSON.stringify(message))
      }
    })
  }

  return {
    find,
    take,
    drop: (key) => {
      remove.run(...keyOf(key))
    },
    reply,
    messages: (tenant, principal, contextId, limit) =>
      latest
        .all(toText(tenant), toText(principal), toText(contextId), limit)
        .map((row) => ({
          tenant,
          principal,
          contextId,
          at: Number(row['at']),
          message: JSON.parse(String(row['message'])) as Message,
        }))
        .reverse(),
  }
}

function keyOf(key: ClaimKey): [string, string, string, string] {
  return [toText(key.tenant), toText(key.principal), toText(key.agent), toText(key.key)]
}

function replyOf(claim: Claim): string | null {
  return claim.reply === undefined ? null : JSON.stringify(claim.reply)
}

function toClaim(row: Row): Claim {
  const text = (column: string): string => fromText(String(row[column]))
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
