/**
 * Budgets, for operators: set, list, refill, remove.
 *
 * V1  A change is stored, and known to every process, before a task continues because of it.
 * V2  The change of a budget and the resumes of its tasks are separate writes. If the process dies
 *     in between, the next process that starts or takes over resumes the remaining tasks.
 * V3  A budget that is being removed is not listed. If the process dies, the next process that
 *     starts or takes over removes it.
 */

import { z } from 'zod'
import type { Budget, BudgetFigures, Measure, Per } from '../../core/budgets/budget.ts'
import { type BudgetCommand, decideBudget, evolveBudget } from '../../core/budgets/decide-budget.ts'
import { LullError } from '../../core/errors.ts'
import type { HoldScope } from '../../core/hold-scope.ts'
import { canonical } from '../../core/receipts/canonical-json.ts'
import { sha256 } from '../../core/receipts/sha256.ts'
import type { Policy } from '../../ports/store/policies.ts'
import { ALL_TENANTS, actorOf, type Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { isOwner, maySeeScope, ownerFor, queryOf, withinTenantOf } from '../holds/hold-scope.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { holdScope } from '../input/hold-scope.ts'
import { check } from '../input/parse.ts'
import { id } from '../input/primitives.ts'
import { measure, per } from '../input/unions.ts'
import type { OperatorList, OperatorVerb } from '../requests/verb.ts'
import type { BudgetChecks, Judged } from './check-budgets.ts'
import { resumeAllStopped } from './resume-stopped.ts'

/** One limit. Setting it again, with the same scope, measure and period, changes the limit. */
export interface SetBudgetRequest {
  readonly scope: HoldScope
  readonly measure: Measure
  /** In the measure: tokens, dollars, milliseconds or turns. */
  readonly limit: number
  /** Default `life`. */
  readonly per?: Per | undefined
  /** False: tasks that the budget has stopped stay stopped, also where more is allowed now. */
  readonly resume?: boolean | undefined
}

export interface RefillRequest {
  readonly budgetId: string
  /** Allowed in addition, in this period. Absent: the count starts again at zero. */
  readonly amount?: number | undefined
  /** False: tasks that the budget has stopped stay stopped. */
  readonly resume?: boolean | undefined
}

/** Larger amounts could not be counted exactly. */
const amount: z.ZodNumber = z.number().min(0).max(1_000_000_000_000)

export const setBudgetVerb: OperatorVerb<'setBudget'> = {
  capability: 'budgets',
  scope: 'ops:control',
  input: z
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
    .meta({
      if: { properties: { measure: { const: 'costUsd' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { limit: { maximum: 1_000_000 } } },
    }),
  audited: { action: 'budget.set', targetOf: ({ budget }) => budget.id },
  method: ({ budgets }) => budgets.set,
}

const refillFields = {
  amount: amount.optional(),
  resume: z.boolean().optional(),
} satisfies FieldsOf<Omit<RefillRequest, 'budgetId'>>

/** A request whose budget is named elsewhere. */
export const refillBody: z.ZodType<Omit<RefillRequest, 'budgetId'>> = z.strictObject(refillFields)

export const refillBudgetVerb: OperatorVerb<'refillBudget'> = {
  capability: 'budgets',
  scope: 'ops:control',
  input: z.strictObject({ budgetId: id, ...refillFields }),
  audited: { action: 'budget.refill', targetOf: ({ budget }) => budget.id },
  method: ({ budgets }) => budgets.refill,
}

export const removeBudgetVerb: OperatorVerb<'removeBudget'> = {
  capability: 'budgets',
  scope: 'ops:control',
  input: id,
  audited: { action: 'budget.remove' },
  method: ({ budgets }) => budgets.remove,
}

export const listBudgets: OperatorList<'budgets'> = {
  capability: 'budgets',
  scope: 'ops:read',
  method: ({ budgets }) => budgets.list,
}

export interface BudgetInfo
  extends Omit<Budget, 'kind' | 'extra' | 'resumes' | 'removing'>,
    BudgetFigures {}

export interface BudgetAnswer {
  readonly budget: BudgetInfo
  /** The number of resumed tasks that the budget had stopped. */
  readonly resumed: number
}

export interface Budgets {
  list(caller: Caller): Promise<readonly BudgetInfo[]>
  set(caller: Caller, request: SetBudgetRequest): Promise<BudgetAnswer>
  refill(caller: Caller, request: RefillRequest): Promise<BudgetAnswer>
  remove(caller: Caller, budgetId: string): Promise<{ readonly resumed: number }>
  /**
   * Completes what dead processes left: resumes stopped tasks (V2), and removes budgets that they
   * were removing (V3).
   */
  resumeRest(): Promise<void>
}

export function createBudgets(
  context: EngineContext,
  checks: Pick<BudgetChecks, 'figures'>,
  /** Resolves when every process knows the policies that are stored now. */
  changed: () => Promise<void>,
): Budgets {
  async function infosOf(budgets: readonly Budget[]): Promise<readonly BudgetInfo[]> {
    const judged = await checks.figures(budgets)
    return judged.map(infoOf)
  }

  const change = createChangeBudget(context, changed)

  async function answer(
    caller: Caller,
    budget: Budget,
    resume: boolean | undefined,
  ): Promise<BudgetAnswer> {
    const [info] = await infosOf([budget])
    if (info === undefined) throw noBudget(budget.id)
    const goesOn = resume !== false && !info.usedUp
    const resumed = goesOn ? await resumeAllStopped(context, budget, actorOf(caller)) : 0
    return { budget: info, resumed }
  }

  /**
   * Resumes the tasks before the budget is removed, because without the budget they cannot be found
   * (V2).
   */
  async function finishRemoval(budget: Budget, caller: Caller): Promise<number> {
    const resume = (): Promise<number> => resumeAllStopped(context, budget, actorOf(caller))
    const resumed = await resume()
    const { before, after } = await change(caller, budget.id, { type: 'remove' })
    return before !== undefined && after === undefined ? resumed + (await resume()) : resumed
  }

  async function set(caller: Caller, request: SetBudgetRequest): Promise<BudgetAnswer> {
    const { resume, ...given } = check(setBudgetVerb.input, request)
    const { measure, limit, per = 'life' } = given
    const scope = withinTenantOf(caller, given.scope)
    const owner = ownerFor(caller)
    const id = idOf(caller, { scope, measure, per })
    const actor = actorOf(caller)
    const named = { id, owner, scope, measure, limit, per, actor }
    const command = { type: 'set', ...named, resume } as const
    const { after } = await change(caller, id, command)
    if (after === undefined) throw noBudget(id)
    return answer(caller, after, resume)
  }

  return {
    async list(caller) {
      const { store } = context
      const all = (await store.policies()).filter((one) => one.kind === 'budget')
      const listed = all.filter(({ removing }) => !removing)
      return infosOf(listed.filter((budget) => maySeeScope(caller, budget)))
    },
    set: (caller, request) => context.followUps.during(() => set(caller, request)),
    refill: (caller, request) =>
      context.followUps.during(async () => {
        const { budgetId, amount, resume } = check(refillBudgetVerb.input, request)
        const { after } = await change(caller, budgetId, { type: 'refill', amount, resume })
        if (after === undefined) throw noBudget(budgetId)
        return answer(caller, after, resume)
      }),
    remove: (caller, budgetId) =>
      context.followUps.during(async () => {
        const { after } = await change(caller, budgetId, { type: 'release' })
        return { resumed: after === undefined ? 0 : await finishRemoval(after, caller) }
      }),
    async resumeRest() {
      const stored = (await context.store.policies()).filter((one) => one.kind === 'budget')
      if (stored.length === 0) return
      for (const { budget, figures } of await checks.figures(stored)) {
        if (figures.usedUp || !budget.resumes) continue
        if (budget.removing) await finishRemoval(budget, lull)
        else await resumeAllStopped(context, budget, { kind: 'policy', id: budget.id })
      }
    },
  }
}

/** The caller in whose name removals of dead processes are completed. */
const lull: Caller = { tenant: ALL_TENANTS, principal: 'lull', operator: true }

function noBudget(id: string): LullError {
  return new LullError('NOT_FOUND', { what: 'budget', id })
}

function infoOf({ budget, figures }: Judged): BudgetInfo {
  const { id, version, owner, scope, measure, limit, per, actor, createdAt, startedAt } = budget
  const named = { id, version, owner, scope, measure, limit, per, actor, createdAt, startedAt }
  return { ...named, ...figures }
}

/**
 * The id is derived from the tenant in which the operator acts, not from the owner, so a change of
 * the owner keeps the budget.
 */
function idOf({ tenant }: Caller, named: Pick<Budget, 'scope' | 'measure' | 'per'>): string {
  return `budget-${sha256(canonical({ owner: tenant, ...named })).slice(0, 16)}`
}

/** Changes a stored budget: decides a command, and writes the result with a compare-and-set. */
interface ChangedBudget {
  readonly before: Budget | undefined
  readonly after: Budget | undefined
}

/** Decides the command on the stored budget, and decides again if another write came first. */
type ChangeBudget = (caller: Caller, id: string, command: BudgetCommand) => Promise<ChangedBudget>

/** @param changed resolves when every process knows the policies that are stored now */
function createChangeBudget(context: EngineContext, changed: () => Promise<void>): ChangeBudget {
  return async (caller, id, command) => {
    const { store, clock } = context
    for (;;) {
      const all = await store.policies()
      const stored = all.find((one) => one.id === id)
      const before = stored?.kind === 'budget' && maySeeScope(caller, stored) ? stored : undefined
      if (before !== undefined) checkOwner(caller, before)
      else if (command.type === 'set') checkRoom(all, command)
      const decided = decideBudget(before, command, clock.now())
      if (decided.refusal !== undefined) throw noBudget(id)
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

/**
 * Limits how many budgets and rules the operators of one tenant can create, because every process
 * keeps all of them in memory.
 */
export const MOST_BUDGETS = 1_000
export const MOST_RULES = 100

/** @throws LullError `LIMIT_EXCEEDED` when one more would exceed the limit */
export function checkNumber(limit: string, value: number, known: number): void {
  if (known >= value) throw new LullError('LIMIT_EXCEEDED', { limit, value })
}
