/** Changes a stored budget: decides a command, and writes the result with a compare-and-set. */
import type { Budget } from '../../core/budgets/budget.ts'
import { type BudgetCommand, decideBudget, evolveBudget } from '../../core/budgets/decide-budget.ts'
import { LullError, toError } from '../../core/errors.ts'
import type { Policy } from '../../ports/store/policies.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { isOwner, maySeeScope, queryOf } from '../holds/hold-scope.ts'
import { checkNumber, MOST_BUDGETS } from './policy-limits.ts'

export interface ChangedBudget {
  readonly before: Budget | undefined
  readonly after: Budget | undefined
}

/** Decides the command on the stored budget, and decides again if another write came first. */
export type ChangeBudget = (
  caller: Caller,
  id: string,
  command: BudgetCommand,
) => Promise<ChangedBudget>

/** @param changed resolves when every process knows the policies that are stored now */
export function createChangeBudget(
  context: EngineContext,
  changed: () => Promise<void>,
): ChangeBudget {
  return async (caller, id, command) => {
    const { store, clock } = context
    for (;;) {
      const all = await store.policies()
      const stored = all.find((one) => one.id === id)
      const before = stored?.kind === 'budget' && maySeeScope(caller, stored) ? stored : undefined
      if (before !== undefined) checkOwner(caller, before)
      else if (command.type === 'set') checkRoom(all, command)
      const decided = decideBudget(before, command, clock.now())
      if (decided.refusal !== undefined) throw toError(decided.refusal)
      if (decided.changes.length === 0) return { before, after: before }
      const after = decided.changes.reduce(evolveBudget, before)
      const expected = before?.version ?? 0
      const isWritten =
        after === undefined
          ? await store.removePolicy(id, expected)
          : await store.putPolicy(after, expected)
      if (!isWritten) continue
      await changed()
      return { before, after }
    }
  }
}

/**
 * Checks the number of policies. Operators of all tenants have a limit of their own in each tenant.
 */
function checkRoom(
  all: readonly Policy[],
  { owner, scope }: Pick<Budget, 'owner' | 'scope'>,
): void {
  const { tenant } = queryOf(scope)
  const known = all.filter(
    (one) => one.kind === 'budget' && one.owner === owner && queryOf(one.scope).tenant === tenant,
  )
  checkNumber('budgets of the tenant', MOST_BUDGETS, known.length)
}

function checkOwner(caller: Caller, { owner }: Budget): void {
  if (isOwner(caller, owner)) return
  const problem = 'is a budget that only operators of all tenants change'
  throw new LullError('INVALID_INPUT', { path: 'budgetId', problem })
}
