import type { Spent } from '../../core/budgets/budget.ts'
import type { Hold } from '../../ports/store/holds.ts'
import { LARGEST_COUNT, type Policy, type PolicyStore } from '../../ports/store/policies.ts'
import { toText } from '../../ports/store/text.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database } from './files/driver.ts'
import type { Transact } from './transaction.ts'

/** Stores budgets and rules, and how much of each budget is used. */
export interface Policies extends Direct<keyof PolicyStore> {
  /** Adds to the sum of a budget. Called in the transaction of a commit. */
  spend(spent: Spent): void
}

export function createPolicies(db: Database, transact: Transact): Policies {
  const all = db.prepare('SELECT body FROM policies ORDER BY id')
  const versionOf = db.prepare('SELECT version FROM policies WHERE id = ?')
  const upsert = db.prepare(
    `INSERT INTO policies (id, version, body) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, body = excluded.body`,
  )
  const remove = db.prepare('DELETE FROM policies WHERE id = ? AND version = ?')
  const count = db.prepare(
    `INSERT INTO spending (budget_id, period, amount) VALUES (?, ?, ?)
     ON CONFLICT (budget_id) DO UPDATE
     SET amount = min(${LARGEST_COUNT}, excluded.amount + iif(period = excluded.period, amount, 0)),
       period = excluded.period
     WHERE period <= excluded.period`,
  )
  const counted = db.prepare('SELECT period, amount FROM spending WHERE budget_id = ?')
  return {
    policies: () => all.all().map((row) => JSON.parse(String(row['body'])) as Policy),
    putPolicy: (policy, expected) =>
      transact(() => {
        const version = Number(versionOf.get(toText(policy.id))?.['version'] ?? 0)
        if (version !== expected) return false
        upsert.run(toText(policy.id), policy.version, JSON.stringify(policy))
        return true
      }),
    removePolicy(id, expected) {
      remove.run(toText(id), expected)
      return versionOf.get(toText(id)) === undefined
    },
    spend({ budgetId, period, amount }) {
      count.run(toText(budgetId), period, amount)
    },
    // One sum per budget, for all tenants that it counts.
    spent: (budgets) =>
      budgets.flatMap(({ id: budgetId }) => {
        const row = counted.get(toText(budgetId))
        if (row === undefined) return []
        return [{ budgetId, period: Number(row['period']), amount: Number(row['amount']) }]
      }),
  }
}

export function createHolds(db: Database): Direct<'putHold' | 'holds'> {
  const upsert = db.prepare(
    `INSERT INTO holds (id, created_at, lifted_at, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE
     SET created_at = excluded.created_at, lifted_at = excluded.lifted_at, body = excluded.body`,
  )
  // Scans the table, because operators make few holds.
  const select = db.prepare(
    'SELECT body FROM holds WHERE lifted_at IS NULL OR ? ORDER BY created_at, pos',
  )
  return {
    putHold(hold) {
      upsert.run(toText(hold.id), hold.createdAt, hold.liftedAt ?? null, JSON.stringify(hold))
    },
    holds: (all = false) =>
      select.all(all ? 1 : 0).map((row) => JSON.parse(String(row['body'])) as Hold),
  }
}
