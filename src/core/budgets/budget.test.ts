import { describe, expect, it } from 'vitest'
import { type Budget, describeFigures, figuresOf, periodOf, toUnits } from './budget.ts'
import { type BudgetCommand, decideBudget, evolveBudget } from './decide-budget.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOON = 20 * DAY + 12 * HOUR

const setting = {
  type: 'set',
  id: 'budget-1',
  owner: '*',
  scope: { tenant: 'acme' },
  measure: 'tokens',
  limit: 1_000,
  per: 'day',
  actor: { kind: 'operator', id: 'root' },
} as const

/** The budget after these commands, each at its instant. */
function budgetAfter(...commands: readonly (readonly [BudgetCommand, number])[]): Budget {
  const budget = commands.reduce<Budget | undefined>((state, [command, at]) => {
    const decided = decideBudget(state, command, at)
    if (decided.refusal !== undefined) throw new Error(decided.refusal)
    return decided.changes.reduce(evolveBudget, state)
  }, undefined)
  if (budget === undefined) throw new Error('there is no budget')
  return budget
}

const spent = (amount: number, period: number) => ({ budgetId: 'budget-1', period, amount })

describe('a budget', () => {
  it('U1: set again changes its limit and keeps its count', () => {
    const first = budgetAfter([setting, NOON])
    const again = budgetAfter([setting, NOON], [{ ...setting, limit: 2_000 }, NOON + 5])
    expect(again).toEqual({ ...first, limit: 2_000, resumes: true, version: 3 })
    expect(
      budgetAfter(
        [setting, NOON],
        [{ ...setting, limit: 2_000 }, NOON],
        [{ ...setting, limit: 2_000 }, NOON + 5],
      ),
    ).toEqual(again)
    const ofTenant = { ...setting, owner: 'acme' }
    expect(budgetAfter([ofTenant, NOON], [setting, NOON + 5])).toEqual({
      ...first,
      resumes: true,
      version: 3,
    })
  })

  it('U2: refilled with an amount, allows more in this period only; two refills add up', () => {
    const refill = { type: 'refill', amount: 500 } as const
    const budget = budgetAfter([setting, NOON], [refill, NOON + 1], [refill, NOON + 2])
    const counted = spent(1_500, NOON)
    expect(figuresOf(budget, counted, NOON + 3)).toMatchObject({ spent: 1_500, allowed: 2_000 })
    expect(figuresOf(budget, counted, NOON + DAY)).toMatchObject({ spent: 0, allowed: 1_000 })
  })

  it('U3: refilled without an amount, starts its count at zero', () => {
    const budget = budgetAfter([setting, NOON], [{ type: 'refill' }, NOON + HOUR])
    const figures = figuresOf(budget, spent(1_000, NOON), NOON + HOUR + 1)
    expect(figures).toMatchObject({ spent: 0, allowed: 1_000, usedUp: false })
  })

  it('U4: lets stopped tasks go on only if its last change says so', () => {
    expect(budgetAfter([setting, NOON])).not.toHaveProperty('resumes')
    for (const command of [setting, { type: 'refill' }] as const) {
      const going = budgetAfter([setting, NOON], [command, NOON + 1])
      expect(going.resumes).toBe(true)
      const kept: BudgetCommand = { ...command, resume: false }
      expect(budgetAfter([setting, NOON], [kept, NOON + 1])).not.toHaveProperty('resumes')
      const after = budgetAfter([setting, NOON], [command, NOON + 1], [kept, NOON + 2])
      expect(after).not.toHaveProperty('resumes')
    }
    expect(budgetAfter([setting, NOON], [{ type: 'release' }, NOON + 1]).resumes).toBe(true)
  })

  it('U5: cannot be refilled while it is removed, and is a new one when it is set again', () => {
    const removing = budgetAfter([setting, NOON], [{ type: 'release' }, NOON + 1])
    expect(figuresOf(removing, spent(1_000, NOON), NOON + 1).usedUp).toBe(false)
    expect(decideBudget(removing, { type: 'refill' }, NOON).refusal).toBe('unknown')
    const again = decideBudget(removing, setting, NOON)
    if (again.refusal !== undefined) throw new Error(again.refusal)
    const budget = again.changes.reduce(evolveBudget, removing as Budget | undefined)
    expect(budget).toMatchObject({ limit: 1_000, version: removing.version + 1 })
    expect(budget?.startedAt).toBeGreaterThan(removing.startedAt)
    expect(budget).not.toHaveProperty('removing')
    expect(decideBudget(budget, { type: 'remove' }, NOON)).toEqual({ changes: [] })
  })

  it('that does not exist cannot be refilled or removed', () => {
    for (const type of ['refill', 'release'] as const) {
      expect(decideBudget(undefined, { type }, NOON).refusal).toBe('unknown')
    }
    expect(decideBudget(undefined, { type: 'remove' }, NOON)).toEqual({ changes: [] })
    expect([{ type: 'removed' } as const].reduce(evolveBudget, budgetAfter([setting, NOON]))).toBe(
      undefined,
    )
  })

  it('counts from when it was set, and from the start of each UTC hour or day', () => {
    const hourly = budgetAfter([{ ...setting, per: 'hour' }, NOON + 5])
    expect(periodOf(hourly, NOON + 10)).toBe(NOON + 5)
    expect(periodOf(hourly, NOON + HOUR + 10)).toBe(NOON + HOUR)
    expect(periodOf(budgetAfter([setting, NOON]), NOON + DAY)).toBe(21 * DAY)
    const forLife = budgetAfter([{ ...setting, per: 'life' }, NOON])
    expect(periodOf(forLife, NOON + 1_000 * DAY)).toBe(NOON)
    expect(figuresOf(forLife, undefined, NOON)).not.toHaveProperty('nextPeriodAt')
    expect(figuresOf(hourly, undefined, NOON + 10).nextPeriodAt).toBe(NOON + HOUR)
  })

  it.each([
    [699, undefined, false],
    [700, 70, false],
    [849, 70, false],
    [850, 85, false],
    [950, 95, false],
    [999, 95, false],
    [1_000, 95, true],
    [1_200, 95, true],
  ])('at %i of 1,000 warns of %s percent, used up: %s', (amount, warning, usedUp) => {
    const figures = figuresOf(budgetAfter([setting, NOON]), spent(amount, NOON), NOON + 1)
    expect([figures.warning, figures.usedUp]).toEqual([warning, usedUp])
  })

  it('of nothing is used up from the start', () => {
    const none = budgetAfter([{ ...setting, limit: 0 }, NOON])
    expect(figuresOf(none, undefined, NOON)).toMatchObject({ usedUp: true, percent: 100 })
  })

  it('adds costs exactly', () => {
    const budget = budgetAfter([{ ...setting, measure: 'costUsd', limit: 0.3 }, NOON])
    const units = 3 * toUnits('costUsd', 0.1)
    expect(figuresOf(budget, spent(units, NOON), NOON)).toMatchObject({ spent: 0.3, usedUp: true })
  })

  const reader = { tenant: 'acme', taskId: 'task-1', ofAllTenants: false }

  it('is described with its figures, its period and its scope', () => {
    const budget = budgetAfter([setting, NOON])
    expect(describeFigures(budget, figuresOf(budget, spent(1_200, NOON), NOON), reader)).toBe(
      '1200 of 1000 tokens per day of tenant acme (budget-1)',
    )
    const costs = budgetAfter([{ ...setting, measure: 'costUsd', limit: 2, per: 'life' }, NOON])
    const counted = spent(toUnits('costUsd', 2.25), NOON)
    expect(describeFigures(costs, figuresOf(costs, counted, NOON), reader)).toBe(
      '2.25 of 2 USD of tenant acme (budget-1)',
    )
  })

  it.each([
    [{ taskIds: ['task-1'] }, '1200 of 1000 tokens per day of task task-1 (budget-1)'],
    [{ taskIds: ['task-1', 'task-2'] }, 'a budget of the operator (budget-1)'],
    [
      { agent: 'a', tenant: 'acme' },
      '1200 of 1000 tokens per day of agent a of tenant acme (budget-1)',
    ],
    [{ agent: 'a' }, 'a budget of the operator (budget-1)'],
    [{ contextId: 'c' }, 'a budget of the operator (budget-1)'],
    [{ all: true }, 'a budget of the operator (budget-1)'],
    [{ tenant: 'other' }, 'a budget of the operator (budget-1)'],
  ] as const)('of %j has figures only if they count no other tenant', (scope, text) => {
    const budget: Budget = { ...budgetAfter([setting, NOON]), scope }
    const figures = figuresOf(budget, spent(1_200, NOON), NOON)
    expect(describeFigures(budget, figures, reader)).toBe(text)
    expect(describeFigures(budget, figures, { ...reader, ofAllTenants: true })).toContain('1200')
  })
})
