import type { Spent } from '../../core/budgets/budget.ts'
import { LARGEST_COUNT, type Policy } from '../../ports/store/policies.ts'

/** Budgets, rules, and what was used of budgets. */
export interface Policies {
  list(): readonly Policy[]
  put(policy: Policy, expected: number): boolean
  remove(id: string, expected: number): boolean
  spend(spent: Spent): void
  spent(budgetIds: readonly string[]): readonly Spent[]
}

export function createPolicies(): Policies {
  const policies = new Map<string, string>()
  const counts = new Map<string, Spent>()
  const read = (text: string): Policy => JSON.parse(text) as Policy
  const versionOf = (id: string): number => {
    const known = policies.get(id)
    return known === undefined ? 0 : read(known).version
  }
  return {
    list: () =>
      [...policies.values()].map(read).sort((a, b) => (a.id < b.id ? -1 : a.id === b.id ? 0 : 1)),
    put(policy, expected) {
      if (versionOf(policy.id) !== expected) return false
      policies.set(policy.id, JSON.stringify(policy))
      return true
    },
    remove(id, expected) {
      if (policies.has(id) && versionOf(id) !== expected) return false
      policies.delete(id)
      return true
    },
    spend(spent) {
      const known = counts.get(spent.budgetId)
      if (known !== undefined && known.period > spent.period) return
      const before = known?.period === spent.period ? known.amount : 0
      const amount = Math.min(before + spent.amount, LARGEST_COUNT)
      counts.set(spent.budgetId, { ...spent, amount })
    },
    spent: (budgetIds) =>
      budgetIds.flatMap((id) => {
        const known = counts.get(id)
        return known === undefined ? [] : [known]
      }),
  }
}
