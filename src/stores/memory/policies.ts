import type { Spent } from '../../core/budgets/budget.ts'
import { LARGEST_COUNT, type Policy, type PolicyStore } from '../../ports/store/policies.ts'
import type { Direct } from '../../ports/store.ts'

/** Budgets, rules, and what was used of budgets. */
export interface Policies extends Direct<keyof PolicyStore> {
  spend(spent: Spent): void
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
    policies: () =>
      [...policies.values()].map(read).sort((a, b) => (a.id < b.id ? -1 : a.id === b.id ? 0 : 1)),
    putPolicy(policy, expected) {
      if (versionOf(policy.id) !== expected) return false
      policies.set(policy.id, JSON.stringify(policy))
      return true
    },
    removePolicy(id, expected) {
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
    spent: (budgets) =>
      budgets.flatMap(({ id }) => {
        const known = counts.get(id)
        return known === undefined ? [] : [known]
      }),
  }
}
