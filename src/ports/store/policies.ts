/** Budgets and rules, and what was used of each budget. */
import type { Budget, Spent } from '../../core/budgets/budget.ts'
import type { Rule } from '../../core/budgets/rule.ts'

export type Policy = Budget | Rule

export interface PolicyStore {
  /** Ordered by id. */
  policies(): Promise<readonly Policy[]>
  /**
   * Writes the policy if the stored one has the version `expected`; 0 means that there is none. False: it has another
   * version, and nothing was written.
   */
  putPolicy(policy: Policy, expected: number): Promise<boolean>
  /** Removes the policy if the stored one has the version `expected`, or is gone. False: it has another version. */
  removePolicy(id: string, expected: number): Promise<boolean>
  /** What was used of these budgets. A budget of which nothing was used is left out. */
  spent(budgetIds: readonly string[]): Promise<readonly Spent[]>
}

/** The largest count. Counts that would be larger stay there, because numbers are not exact above. */
export const LARGEST_COUNT: number = Number.MAX_SAFE_INTEGER
