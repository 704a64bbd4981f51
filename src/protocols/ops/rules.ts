/** `/ops/rules`: holds that an event or a budget places. */
import { z } from 'zod'
import type { Rule } from '../../core/budgets/rule.ts'
import { toIso } from '../../core/values/instant.ts'
import { pauseMode } from '../../engine/input/inputs.ts'
import type { DryRun } from '../../engine/policies/dry-run.ts'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import type { RuleDryRun, RuleSummary } from '../../wire/ops/control.ts'
import { fromVerb, type OpsRoute, route } from './route.ts'

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
  handle: async (engine, caller) => ({ rules: (await engine.rules(caller)).map(shown) }),
})

const addRule: OpsRoute = route('addRule', {
  ...fromVerb(operatorVerbs.addRule),
  about: 'Adds a rule: one of `onEvent`, `filter` and `budget` fires it',
  answer: rule,
  handle: async (engine, caller, { body }) => shown(await engine.addRule(caller, body)),
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

function shown({
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
