/**
 * The budgets and rules in effect, in the memory of this process. On a shared store, every process
 * reads them again before the request that changed them is answered (`changed` in `policing.ts`).
 */
import { amountsOf, type Budget, periodOf, type Spent } from '../../core/budgets/budget.ts'
import type { Rule } from '../../core/budgets/rule.ts'
import type { HoldScope } from '../../core/hold-scope.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PolicyStore } from '../../ports/store/policies.ts'
import { isCovered } from '../holds/hold-scope.ts'

/**
 * Computes how much a commit uses of the budgets that cover its task. Undefined when it uses
 * nothing of any.
 */
export type SpendingOf = (
  before: Task | undefined,
  records: readonly LogRecord[],
  after: Task,
) => readonly Spent[] | undefined

export interface Policies {
  readonly budgets: () => readonly Budget[]
  readonly rules: () => readonly Rule[]
  /** The budgets whose scope covers the task. */
  readonly covering: (task: Task) => readonly Budget[]
  readonly spendingOf: SpendingOf
  /** Reads the policies from the store. */
  refresh(): Promise<void>
}

const none: readonly Budget[] = []

/** @param runningHere the token of the task's run in this process */
export function createPolicies(
  deps: { readonly store: Pick<PolicyStore, 'policies'>; readonly clock: Clock },
  runningHere: (taskId: string) => string | undefined,
): Policies {
  const { store, clock } = deps
  let budgets = none
  let rules: readonly Rule[] = []
  /**
   * Budgets by the narrowest name in their scope, so that the cost per task does not grow with the
   * number of budgets.
   */
  let byName = new Map<string, Budget[]>()
  let begun = 0
  let applied = 0

  async function refresh(): Promise<void> {
    const mine = ++begun
    const all = await store.policies()
    // Ignore this answer: a read that began later has already been applied.
    if (mine < applied) return
    applied = mine
    budgets = all.filter((one) => one.kind === 'budget')
    rules = all.filter((one) => one.kind === 'rule')
    byName = new Map()
    for (const budget of budgets) {
      for (const name of namesIn(budget.scope)) {
        byName.set(name, [...(byName.get(name) ?? []), budget])
      }
    }
  }

  function covering(task: Task): readonly Budget[] {
    if (budgets.length === 0) return none
    const { id: taskId, tenant, agent, contextId } = task
    const facts = { taskId, tenant, agent, contextId }
    return [...namesIn({ all: true }), ...scopesOf(facts).flatMap(namesIn)].flatMap((name) =>
      (byName.get(name) ?? none).filter(({ scope }) => isCovered(scope, facts)),
    )
  }

  return {
    budgets: () => budgets,
    rules: () => rules,
    covering,
    refresh,
    spendingOf(before, records, after) {
      if (budgets.length === 0) return undefined
      const covered = covering(after)
      if (covered.length === 0) return undefined
      const now = clock.now()
      const amounts = amountsOf(before, records, after, runningHere(after.id))
      const spending = covered
        .filter(({ measure }) => amounts[measure] > 0)
        .map((budget) => ({
          budgetId: budget.id,
          period: periodOf(budget, now),
          amount: amounts[budget.measure],
        }))
      return spending.length === 0 ? undefined : spending
    },
  }
}

/** The names under which a scope is indexed. */
function namesIn(scope: HoldScope): readonly string[] {
  if ('taskIds' in scope) return scope.taskIds.map((id) => `task ${id}`)
  if ('contextId' in scope) return [`context ${scope.contextId}`]
  if ('agent' in scope) return [`agent ${scope.agent}`]
  return 'tenant' in scope ? [`tenant ${scope.tenant}`] : ['all']
}

function scopesOf(task: {
  readonly taskId: string
  readonly tenant: string
  readonly agent: string
  readonly contextId: string
}): readonly HoldScope[] {
  const { taskId, tenant, agent, contextId } = task
  return [{ tenant }, { agent }, { contextId }, { taskIds: [taskId] }]
}
