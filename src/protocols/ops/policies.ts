/** `/ops/budgets` and `/ops/rules`: set limits and see how far they are used, and holds that an event or a budget places. */

import { z } from 'zod'
import type { Rule } from '../../core/budgets/rule.ts'
import { toIso } from '../../core/values/instant.ts'
import { measure, pauseMode, per } from '../../engine/input/inputs.ts'
import { type BudgetAnswer, type BudgetInfo, refillBody } from '../../engine/policies/budgets.ts'
import type { DryRun } from '../../engine/policies/dry-run.ts'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import type {
  BudgetResult,
  BudgetSummary,
  RuleDryRun,
  RuleSummary,
} from '../../wire/ops/control.ts'
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
  handle: async (engine, caller) => ({ budgets: (await engine.budgets(caller)).map(renderBudget) }),
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
  return { budget: renderBudget(info), resumed }
}

function renderBudget(info: BudgetInfo): BudgetSummary {
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

/** `/ops/rules`: holds that an event or a budget places. */
const rule: z.ZodType<RuleSummary> = z.object({
  ruleId: z.string(),
  tenant: z.string(),
  onEvent: z.string().optional(),
  filter: z.record(z.string(), z.unknown()).optional(),
  budget: z.object({ id: z.string(), percent: z.number() }).optional(),
  scope: z.record(z.string(), z.unknown()),
  mode: pauseMode,
  reason: z.string(),
  holdNew: z.boolean(),
  actor: z.object({ kind: z.string(), id: z.string() }),
  createdAt: z.iso.datetime(),
})

const listRules: OpsRoute = route('rules', {
  scope: 'ops:read',
  about: 'The rules. Each places a hold when it is fired',
  answer: z.object({ rules: z.array(rule) }),
  handle: async (engine, caller) => ({ rules: (await engine.rules(caller)).map(renderRule) }),
})

const addRule: OpsRoute = route('addRule', {
  ...fromVerb(operatorVerbs.addRule),
  about: 'Adds a rule: one of `onEvent`, `filter` and `budget` fires it',
  answer: rule,
  handle: async (engine, caller, { body }) => renderRule(await engine.addRule(caller, body)),
})

const removeRule: OpsRoute = route('removeRule', {
  scope: operatorVerbs.removeRule.scope,
  about: 'Removes a rule. Holds that it has placed stay until they are lifted',
  answer: z.object({ ruleId: z.string() }),
  async handle(engine, caller, { id }) {
    await engine.removeRule(caller, id)
    return { ruleId: id }
  },
})

const dryRun: OpsRoute = route('dryRunRule', {
  ...fromVerb(operatorVerbs.dryRunRule),
  about: 'What such a rule would have stopped in the last day',
  answer: z.object({
    since: z.iso.datetime(),
    fired: z.number(),
    firings: z.array(
      z.object({
        cause: z.string(),
        type: z.string().optional(),
        at: z.iso.datetime(),
        tasks: z.number(),
      }),
    ),
    tasks: z.number(),
    sample: z.array(z.string()),
    truncated: z.boolean(),
  }),
  handle: async (engine, caller, { body }) => ran(await engine.dryRunRule(caller, body)),
})

export const ruleRoutes: Readonly<
  Record<'rules' | 'addRule' | 'dryRunRule' | 'removeRule', OpsRoute>
> = {
  rules: listRules,
  addRule,
  dryRunRule: dryRun,
  removeRule,
}

function ran({ since, firings, ...counts }: DryRun): RuleDryRun {
  return {
    since: toIso(since),
    ...counts,
    firings: firings.map((one) => ({ ...one, at: toIso(one.at) })),
  }
}

function renderRule({
  id,
  tenant,
  when,
  scope,
  mode,
  reason,
  holdNew,
  actor,
  createdAt,
}: Rule): RuleSummary {
  return {
    ruleId: id,
    tenant,
    ...when,
    scope: { ...scope },
    mode,
    reason,
    holdNew,
    actor,
    createdAt: toIso(createdAt),
  }
}
