/** Rules, for operators: add, list, remove, and see what a rule would have stopped. */
import { z } from 'zod'
import type { Rule, RuleCause } from '../../core/budgets/rule.ts'
import { LullError } from '../../core/errors.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { EventFilter } from '../../core/waiting/conditions.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { isOwner, maySeeScope, ownerFor, withinTenantOf } from '../holds/hold-scope.ts'
import type { HoldRequest } from '../holds/place-hold.ts'
import { boundedFilter, eventName } from '../input/conditions.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { holdScope } from '../input/hold-scope.ts'
import { check } from '../input/parse.ts'
import { id, reason } from '../input/primitives.ts'
import { pauseMode } from '../input/unions.ts'
import type { OperatorList, OperatorQuestion, OperatorVerb } from '../requests/verb.ts'
import { checkNumber, MOST_RULES } from './budgets.ts'
import type { BudgetChecks } from './check-budgets.ts'
import { type DryRun, dryRunOf } from './dry-run.ts'

/** Has exactly one of `onEvent`, `filter` and `budget`. */
export interface RuleRequest extends HoldRequest {
  readonly onEvent?: string | undefined
  readonly filter?: EventFilter | undefined
  readonly budget?: { readonly id: string; readonly percent: number } | undefined
  /** Default `interrupt_immediate`. */
  readonly mode?: PauseMode | undefined
}

export const addRuleVerb: OperatorVerb<'addRule'> = {
  capability: 'rules',
  scope: 'ops:control',
  input: z
    .strictObject({
      onEvent: eventName.optional(),
      filter: boundedFilter.optional(),
      budget: z.strictObject({ id, percent: z.number().min(1).max(1_000) }).optional(),
      scope: holdScope,
      mode: pauseMode.optional(),
      reason: reason.min(1),
      holdNew: z.boolean().optional(),
    } satisfies FieldsOf<RuleRequest>)
    .refine(
      (rule) =>
        [rule.onEvent, rule.filter, rule.budget].filter((one) => one !== undefined).length === 1,
      { error: 'must have exactly one of onEvent, filter, budget' },
    )
    .meta({ oneOf: ['onEvent', 'filter', 'budget'].map((member) => ({ required: [member] })) }),
  audited: { action: 'rule.add', targetOf: ({ id }) => id },
  method: ({ rules }) => rules.add,
}

export const removeRuleVerb: OperatorVerb<'removeRule'> = {
  capability: 'rules',
  scope: 'ops:control',
  input: id,
  audited: { action: 'rule.remove' },
  method: ({ rules }) => rules.remove,
}

export const dryRunRuleVerb: OperatorQuestion<'dryRunRule'> = {
  capability: 'rules',
  scope: 'ops:read',
  input: addRuleVerb.input,
  method: ({ rules }) => rules.dryRun,
}

export const listRules: OperatorList<'rules'> = {
  capability: 'rules',
  scope: 'ops:read',
  method: ({ rules }) => rules.list,
}

export interface Rules {
  list(caller: Caller): Promise<readonly Rule[]>
  add(caller: Caller, request: RuleRequest): Promise<Rule>
  remove(caller: Caller, ruleId: string): Promise<void>
  /** Computes what the rule would have stopped in the last day. Stops nothing. */
  dryRun(caller: Caller, request: RuleRequest): Promise<DryRun>
}

/** @param changed resolves when every process knows the policies that are stored now */
export function createRules(
  context: EngineContext,
  checks: Pick<BudgetChecks, 'figures'>,
  changed: () => Promise<void>,
): Rules {
  async function rulesOf(caller: Caller): Promise<readonly Rule[]> {
    const all = await context.store.policies()
    return all.filter((one) => one.kind === 'rule').filter((rule) => maySeeScope(caller, rule))
  }

  async function ruleFrom(caller: Caller, request: RuleRequest): Promise<Rule> {
    const { ids, clock } = context
    const given = check(addRuleVerb.input, request)
    const when = causeIn(given)
    if ('budget' in when) await checkBudget(caller, when.budget.id)
    return {
      kind: 'rule',
      id: `rule-${ids.uuid()}`,
      version: 1,
      owner: ownerFor(caller),
      tenant: caller.tenant,
      when,
      scope: withinTenantOf(caller, given.scope),
      mode: given.mode ?? 'interrupt_immediate',
      reason: given.reason,
      holdNew: given.holdNew ?? false,
      actor: actorOf(caller),
      createdAt: clock.now(),
    }
  }

  async function checkBudget(caller: Caller, id: string): Promise<void> {
    const found = (await context.store.policies()).find((one) => one.id === id)
    if (found?.kind === 'budget' && maySeeScope(caller, found)) return
    throw new LullError('INVALID_INPUT', { path: 'budget.id', problem: 'is not a budget' })
  }

  return {
    list: rulesOf,
    async add(caller, request) {
      const rule = await ruleFrom(caller, request)
      const all = (await context.store.policies()).filter((one) => one.kind === 'rule')
      const known = all.filter(({ tenant }) => tenant === rule.tenant)
      checkNumber('rules of the tenant', MOST_RULES, known.length)
      await context.store.putPolicy(rule, 0)
      await changed()
      return rule
    },
    async remove(caller, ruleId) {
      const found = (await rulesOf(caller)).find(({ id }) => id === ruleId)
      if (found === undefined) {
        throw new LullError('NOT_FOUND', { what: 'rule', id: ruleId })
      }
      if (!isOwner(caller, found.owner)) {
        const problem = 'is a rule that only operators of all tenants change'
        throw new LullError('INVALID_INPUT', { path: 'ruleId', problem })
      }
      await context.store.removePolicy(ruleId, found.version)
      await changed()
    },
    async dryRun(caller, request) {
      return dryRunOf(context, checks, await ruleFrom(caller, request))
    },
  }
}

function causeIn({ onEvent, filter, budget }: RuleRequest): RuleCause {
  if (onEvent !== undefined) return { onEvent }
  if (filter !== undefined) return { filter }
  if (budget !== undefined) return { budget }
  const problem = 'must have one of onEvent, filter, budget'
  throw new LullError('INVALID_INPUT', { path: '', problem })
}
