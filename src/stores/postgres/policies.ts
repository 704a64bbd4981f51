/** Stores budgets and rules, and how much of each budget is used. */
import { LARGEST_COUNT, type Policy, type PolicyStore } from '../../ports/store/policies.ts'
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
    // Each tenant has a sum of its own. A budget of all tenants is the total of those of the latest period.
    async spent(budgets) {
      const own = budgets.filter(({ tenant }) => tenant !== undefined)
      const ofAll = budgets.filter(({ tenant }) => tenant === undefined)
      const rows = await db.read(
        `SELECT s.budget_id, s.period, s.amount FROM unnest($1::text[], $2::text[]) AS u (tenant, id)
           JOIN ${s}.spending s ON s.tenant = u.tenant AND s.budget_id = u.id
         UNION ALL
         SELECT budget_id, period, least(${LARGEST_COUNT}, sum(amount)) FROM (
           SELECT budget_id, period, amount, max(period) OVER (PARTITION BY budget_id) AS latest
           FROM ${s}.spending WHERE budget_id = ANY ($3)) AS every
         WHERE period = latest GROUP BY 1, 2`,
        [
          own.map(({ tenant = '' }) => toText(tenant)),
          own.map(({ id }) => toText(id)),
          ofAll.map(({ id }) => toText(id)),
        ],
      )
      return rows.map((row) => ({
        budgetId: fromText(String(row['budget_id'])),
        period: Number(row['period']),
        amount: Number(row['amount']),
      }))
    },
  }
}
