/** `/ops/budgets`: set limits, see how far they are used, refill and remove them. */
import { z } from 'zod'
import { toIso } from '../../core/values/instant.ts'
import { measure, per } from '../../engine/input/inputs.ts'
import type { BudgetAnswer, BudgetInfo } from '../../engine/policies/budgets.ts'
import { refillBody } from '../../engine/policies/budgets.ts'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import type { BudgetResult, BudgetSummary } from '../../wire/ops/control.ts'
import { fromVerb, type OpsRoute, route } from './route.ts'

const budget: z.ZodType<BudgetSummary> = z.object({
  budgetId: z.string(),
  scope: z.record(z.string(), z.unknown()),
  measure: measure,
  limit: z.number(),
  per: per,
  spent: z.number(),
  allowed: z.number(),
  percent: z.number(),
  usedUp: z.boolean(),
  since: z.iso.datetime(),
  nextPeriodAt: z.iso.datetime().optional(),
  actor: z.object({ kind: z.string(), id: z.string() }),
  createdAt: z.iso.datetime(),
})

const changed: z.ZodType<BudgetResult> = z.object({ budget, resumed: z.number() })

const listBudgets: OpsRoute = route('budgets', {
  scope: 'ops:read',
  about: 'The budgets, and how far each is used',
  answer: z.object({ budgets: z.array(budget) }),
  handle: async (engine, caller) => ({ budgets: (await engine.budgets(caller)).map(shown) }),
})

const setBudget: OpsRoute = route('setBudget', {
  ...fromVerb(operatorVerbs.setBudget),
  about: 'Sets a budget, or changes the limit of the one with this scope, measure and period',
  answer: changed,
  handle: async (engine, caller, { body }) => result(await engine.setBudget(caller, body)),
})

const refillBudget: OpsRoute = route('refillBudget', {
  scope: operatorVerbs.refillBudget.scope,
  about: 'Allows more in this period, or starts the count again; the tasks it stopped go on',
  body: refillBody,
  answer: changed,
  absentBody: {},
  handle: async (engine, caller, { id, body }) =>
    result(await engine.refillBudget(caller, { ...body, budgetId: id })),
})

const removeBudget: OpsRoute = route('removeBudget', {
  scope: operatorVerbs.removeBudget.scope,
  about: 'Removes a budget; the tasks it stopped go on',
  answer: z.object({ budgetId: z.string(), resumed: z.number() }),
  handle: async (engine, caller, { id }) => ({
    budgetId: id,
    ...(await engine.removeBudget(caller, id)),
  }),
})

export const budgetRoutes: Readonly<
  Record<'budgets' | 'setBudget' | 'refillBudget' | 'removeBudget', OpsRoute>
> = {
  budgets: listBudgets,
  setBudget,
  refillBudget,
  removeBudget,
}

function result({ budget: info, resumed }: BudgetAnswer): BudgetResult {
  return { budget: shown(info), resumed }
}

function shown(info: BudgetInfo): BudgetSummary {
  const { id, scope, measure, limit, per, spent, allowed, percent, usedUp } = info
  const { actor, period, nextPeriodAt, createdAt } = info
  return {
    budgetId: id,
    scope: { ...scope },
    measure,
    limit,
    per,
    spent,
    allowed,
    percent,
    usedUp,
    since: toIso(period),
    ...(nextPeriodAt === undefined ? {} : { nextPeriodAt: toIso(nextPeriodAt) }),
    actor,
    createdAt: toIso(createdAt),
  }
}
