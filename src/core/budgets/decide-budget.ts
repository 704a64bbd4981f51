/**
 * The life of a budget. `decideBudget` returns the changes that a command makes, and `evolveBudget`
 * applies them. Both are pure. The engine stores the result with a compare-and-set on the version,
 * and decides again if another write came first.
 *
 *   (none) ──set──▶ budget ──set, refill──▶ budget ──release──▶ removing ──remove──▶ (none)
 *                                                                  └──set──▶ a new budget
 *
 * U1  Setting a budget with the same scope, measure and period again changes its limit and its owner, and keeps its count.
 * U2  A refill with an amount adds to what is allowed in the current period, and only there. Two refills add up.
 * U3  A refill without an amount starts the count again at zero.
 * U4  A change says whether stopped tasks go on, and the budget keeps it. If the process that made
 *     the change dies, the next one resumes them. Without that mark stopped tasks stay stopped.
 * U5  A budget that is being removed cannot be refilled. Setting it again makes a new one, which a
 *     later `remove` of the old one does not touch.
 */
import { type Budget, periodOf } from './budget.ts'

export type BudgetCommand =
  | ({ readonly type: 'set' } & Pick<
      Budget,
      'id' | 'owner' | 'scope' | 'measure' | 'limit' | 'per' | 'actor'
    > &
      Resuming)
  | ({ readonly type: 'refill'; readonly amount?: number | undefined } & Resuming)
  /**
   * The first step of a removal: the budget stops no more tasks, so that stopped ones can be
   * resumed before `remove`.
   */
  | { readonly type: 'release' }
  | { readonly type: 'remove' }

interface Resuming {
  /** Default true: tasks that the budget has stopped go on. */
  readonly resume?: boolean | undefined
}

export type BudgetChange =
  | { readonly type: 'created'; readonly budget: Budget }
  | { readonly type: 'limited'; readonly limit: number }
  | { readonly type: 'owned'; readonly owner: string }
  | { readonly type: 'extended'; readonly period: number; readonly amount: number }
  | { readonly type: 'restarted'; readonly at: number }
  | { readonly type: 'resuming'; readonly resumes: boolean }
  | { readonly type: 'released' }
  | { readonly type: 'removed' }

export type DecidedBudget =
  | { readonly changes: readonly BudgetChange[]; readonly refusal?: undefined }
  /** There is no such budget. */
  | { readonly refusal: 'unknown' }

type Of<T extends BudgetCommand['type']> = BudgetCommand & { readonly type: T }

const changes = (...all: readonly BudgetChange[]): DecidedBudget => ({ changes: all })

function set(budget: Budget | undefined, command: Of<'set'>, at: number): DecidedBudget {
  const { type: _, resume, ...rest } = command
  if (budget === undefined || budget.removing) {
    const startedAt = Math.max(at, (budget?.startedAt ?? 0) + 1)
    const created = { kind: 'budget', version: 0, createdAt: at, startedAt, ...rest } as const
    return changes({ type: 'created', budget: created })
  }
  const { limit, owner } = command
  const limited = limit === budget.limit ? [] : [{ type: 'limited', limit } as const]
  const owned = owner === budget.owner ? [] : [{ type: 'owned', owner } as const]
  return changes(...limited, ...owned, ...resuming(budget, resume))
}

function resuming({ resumes }: Budget, resume = true): readonly BudgetChange[] {
  return (resumes ?? false) === resume ? [] : [{ type: 'resuming', resumes: resume }]
}

export function decideBudget(
  budget: Budget | undefined,
  command: BudgetCommand,
  at: number,
): DecidedBudget {
  if (command.type === 'set') return set(budget, command, at)
  if (command.type === 'remove') {
    return budget?.removing ? changes({ type: 'removed' }) : changes()
  }
  if (budget === undefined || (budget.removing && command.type === 'refill')) {
    return { refusal: 'unknown' }
  }
  if (command.type === 'release') {
    return budget.removing ? changes() : changes({ type: 'released' })
  }
  const { amount, resume } = command
  const period = periodOf(budget, at)
  const resumed = resuming(budget, resume)
  if (amount !== undefined) return changes({ type: 'extended', period, amount }, ...resumed)
  // The new period must begin later than the current one, also within the same millisecond.
  return changes({ type: 'restarted', at: Math.max(at, period + 1) }, ...resumed)
}

type Fold<T extends BudgetChange['type']> = (
  budget: Budget,
  change: BudgetChange & { readonly type: T },
) => Budget | undefined

const folds: { readonly [T in Exclude<BudgetChange['type'], 'created'>]: Fold<T> } = {
  limited: (budget, { limit }) => ({ ...budget, limit }),
  owned: (budget, { owner }) => ({ ...budget, owner }),
  extended: (budget, { period, amount }) => {
    const before = budget.extra?.period === period ? budget.extra.amount : 0
    return { ...budget, extra: { period, amount: before + amount } }
  },
  restarted: ({ extra: _, ...budget }, { at }) => ({ ...budget, startedAt: at }),
  resuming: ({ resumes: _, ...budget }, { resumes }) => (resumes ? { ...budget, resumes } : budget),
  // No sum reaches this limit, so a budget that is being removed stops no task.
  released: (budget) => ({
    ...budget,
    limit: Number.MAX_SAFE_INTEGER,
    resumes: true,
    removing: true,
  }),
  removed: () => undefined,
}

export function evolveBudget(budget: Budget | undefined, change: BudgetChange): Budget | undefined {
  if (change.type === 'created') {
    return { ...change.budget, version: (budget?.version ?? 0) + 1 }
  }
  if (budget === undefined) throw new Error(`a budget begins with "created", not "${change.type}"`)
  const next = (folds[change.type] as Fold<typeof change.type>)(budget, change)
  return next && { ...next, version: budget.version + 1 }
}
