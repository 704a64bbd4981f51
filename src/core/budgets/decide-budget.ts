/**
 * The state of a budget. `decideBudget` says what a command changes, and `evolveBudget` makes the change. Both are pure.
 * The engine stores the result with a compare-and-set on the version, and decides again if another write came first.
 *
 *   (none) ──set──▶ budget ──set, refill──▶ budget ──remove──▶ (none)
 *
 * U1  Setting a budget with the same scope, measure and period again changes its limit and keeps its count.
 * U2  A refill with an amount adds to what is allowed in the current period, and only there. Two refills add up.
 * U3  A refill without an amount starts the count again at zero.
 */
import { type Refusal, refuse } from '../errors.ts'
import { type Budget, periodOf } from './budget.ts'

export type BudgetCommand =
  | ({ readonly type: 'set' } & Pick<
      Budget,
      'id' | 'owner' | 'scope' | 'measure' | 'limit' | 'per' | 'actor'
    >)
  | { readonly type: 'refill'; readonly amount?: number | undefined }
  | { readonly type: 'remove' }

export type BudgetChange =
  | { readonly type: 'created'; readonly budget: Budget }
  | { readonly type: 'limited'; readonly limit: number }
  | { readonly type: 'extended'; readonly period: number; readonly amount: number }
  | { readonly type: 'restarted'; readonly at: number }
  | { readonly type: 'removed' }

export type DecidedBudget =
  | { readonly changes: readonly BudgetChange[]; readonly refusal?: undefined }
  | { readonly refusal: Refusal }

type Of<T extends BudgetCommand['type']> = BudgetCommand & { readonly type: T }

const changes = (...all: readonly BudgetChange[]): DecidedBudget => ({ changes: all })

function set(budget: Budget | undefined, command: Of<'set'>, at: number): DecidedBudget {
  const { type: _, ...rest } = command
  if (budget === undefined) {
    const created = { kind: 'budget', version: 0, createdAt: at, startedAt: at, ...rest } as const
    return changes({ type: 'created', budget: created })
  }
  const { limit } = command
  return limit === budget.limit ? changes() : changes({ type: 'limited', limit })
}

export function decideBudget(
  budget: Budget | undefined,
  command: BudgetCommand,
  at: number,
): DecidedBudget {
  if (command.type === 'set') return set(budget, command, at)
  if (budget === undefined) {
    return refuse('INVALID_INPUT', { path: 'budgetId', problem: 'is not a budget' })
  }
  if (command.type === 'remove') return changes({ type: 'removed' })
  const { amount } = command
  const period = periodOf(budget, at)
  // A new period is a later one, also within the millisecond in which the current one began.
  if (amount === undefined) return changes({ type: 'restarted', at: Math.max(at, period + 1) })
  return changes({ type: 'extended', period, amount })
}

type Fold<T extends BudgetChange['type']> = (
  budget: Budget,
  change: BudgetChange & { readonly type: T },
) => Budget | undefined

const folds: { readonly [T in Exclude<BudgetChange['type'], 'created'>]: Fold<T> } = {
  limited: (budget, { limit }) => ({ ...budget, limit }),
  extended: (budget, { period, amount }) => {
    const before = budget.extra?.period === period ? budget.extra.amount : 0
    return { ...budget, extra: { period, amount: before + amount } }
  },
  restarted: ({ extra: _, ...budget }, { at }) => ({ ...budget, startedAt: at }),
  removed: () => undefined,
}

export function evolveBudget(budget: Budget | undefined, change: BudgetChange): Budget | undefined {
  if (change.type === 'created') return { ...change.budget, version: 1 }
  if (budget === undefined) throw new Error(`a budget begins with "created", not "${change.type}"`)
  const next = (folds[change.type] as Fold<typeof change.type>)(budget, change)
  return next && { ...next, version: budget.version + 1 }
}
