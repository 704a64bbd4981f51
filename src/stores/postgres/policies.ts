/** Stores budgets and rules, and how much of each budget is used. */
import type { Policy, PolicyStore } from '../../ports/store/policies.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Database } from './connection/database.ts'

export function createPolicies(db: Database): PolicyStore {
  const s = db.schema
  // With $4 (again), an earlier attempt may already have written the policy.
  const insertion = `INSERT INTO ${s}.policies AS p (id, version, body) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body WHERE $4 AND p.body = excluded.body
    RETURNING 1`
  // An `UPDATE`, because an upsert could bring back a policy that was removed meanwhile.
  const change = `UPDATE ${s}.policies SET version = $2, body = $3
    WHERE id = $1 AND (version = $5 OR ($4 AND body = $3)) RETURNING 1`
  return {
    async policies() {
      const rows = await db.read(`SELECT body FROM ${s}.policies ORDER BY id`)
      return rows.map((row) => JSON.parse(String(row['body'])) as Policy)
    },
    async putPolicy(policy, expected) {
      const written = await db.writeOnce(expected === 0 ? insertion : change, (again) => [
        toText(policy.id),
        policy.version,
        JSON.stringify(policy),
        again,
        ...(expected === 0 ? [] : [expected]),
      ])
      return written.length > 0
    },
    async removePolicy(id, expected) {
      const [row] = await db.write(
        `WITH gone AS (DELETE FROM ${s}.policies WHERE id = $1 AND version = $2 RETURNING 1)
         SELECT EXISTS (SELECT FROM gone) OR NOT EXISTS (SELECT FROM ${s}.policies WHERE id = $1) AS removed`,
        [toText(id), expected],
      )
      return row?.['removed'] === true
    },
    async spent(budgetIds) {
      const rows = await db.read(
        `SELECT budget_id, period, amount FROM ${s}.spending WHERE budget_id = ANY ($1)`,
        [budgetIds.map(toText)],
      )
      return rows.map((row) => ({
        budgetId: fromText(String(row['budget_id'])),
        period: Number(row['period']),
        amount: Number(row['amount']),
      }))
    },
  }
}
