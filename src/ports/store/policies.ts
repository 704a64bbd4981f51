/** Stores budgets and rules, and how much of each budget is used. */
import type { Budget, Spent } from '../../core/budgets/budget.ts'
import type { Rule } from '../../core/budgets/rule.ts'

export type Policy = Budget | Rule

export interface PolicyStore {
  /** All budgets and rules, ordered by id. */
  policies(): Promise<readonly Policy[]>
  /**
   * Writes the policy if the stored one has the version `expected` (0: none is stored). False: it
   * has another version, and nothing was written.
   */
  putPolicy(policy: Policy, expected: number): Promise<boolean>
  /** Removes the policy if the stored one has the version `expected`, or is gone. False: it has another version. */
  removePolicy(id: string, expected: number): Promise<boolean>
  /** How much of these budgets is used. A budget without usage is left out. */
  spent(budgets: readonly BudgetKey[]): Promise<readonly Spent[]>
}

export interface BudgetKey {
  readonly id: string
  /** The only tenant whose tasks the budget counts. Absent: it counts those of all tenants. */
  readonly tenant?: string | undefined
}

/** The largest sum. Sums stop growing there, because larger numbers are not exact. */
export const LARGEST_COUNT: number = Number.MAX_SAFE_INTEGER
