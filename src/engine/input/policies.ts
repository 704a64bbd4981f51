/** Requests about budgets and rules. */
import { z } from 'zod'
import { boundedFilter, eventName } from './conditions.ts'
import { holdScope } from './control.ts'
import type { FieldsOf } from './exhaustive.ts'
import { id, reason } from './primitives.ts'
import type { RefillRequest, RuleRequest, SetBudgetRequest } from './requests.ts'
import { measure, pauseMode, per } from './unions.ts'

/** Larger amounts could not be counted exactly. */
const amount: z.ZodNumber = z.number().min(0).max(1_000_000_000_000)

export const setBudgetInput: z.ZodType<SetBudgetRequest> = z
  .strictObject({
    scope: holdScope,
    measure,
    limit: amount,
    per: per.optional(),
    resume: z.boolean().optional(),
  } satisfies FieldsOf<SetBudgetRequest>)
  .refine(({ measure: of, limit }) => of !== 'costUsd' || limit <= 1_000_000, {
    path: ['limit'],
    error: 'must be at most 1000000 dollars',
  })

const refillFields = {
  amount: amount.optional(),
  resume: z.boolean().optional(),
} satisfies FieldsOf<Omit<RefillRequest, 'budgetId'>>

/** A request whose budget is named elsewhere. */
export const refillBody: z.ZodType<Omit<RefillRequest, 'budgetId'>> = z.strictObject(refillFields)

export const refillInput: z.ZodType<RefillRequest> = z.strictObject({
  budgetId: id,
  ...refillFields,
})

export const ruleInput: z.ZodType<RuleRequest> = z
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
