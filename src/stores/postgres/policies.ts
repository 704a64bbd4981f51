/** Budgets, rules, and what was used of budgets. */
import type { Policy, PolicyStore } from '../../ports/store/policies.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Database } from './database.ts'

export function createPolicies(db: Database): PolicyStore {
  const s = db.schema
  return {
    async policies() {
      const rows = await db.read(`SELECT body FROM ${s}.policies ORDER BY id`)
      return rows.map((row) => JSON.parse(String(row['body'])) as Policy)
    },
    async putPolicy(policy, expected) {
      // When the connection was lost, an earlier attempt may have written the policy.
      const written = await db.writeOnce(
        `INSERT INTO ${s}.policies AS p (id, version, body)
         SELECT $1, $2, $3 WHERE $4::bigint = 0 OR EXISTS (SELECT FROM ${s}.policies WHERE id = $1)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, body = excluded.body
         WHERE p.version = $4::bigint OR ($5 AND p.body = excluded.body)
         RETURNING version`,
        (again) => [toText(policy.id), policy.version, JSON.stringify(policy), expected, again],
      )
      return written.length > 0
    },
    async removePolicy(id) {
      await db.write(`DELETE FROM ${s}.policies WHERE id = $1`, [toText(id)])
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
