import { expect, it } from 'vitest'
import type { Budget } from '../../core/budgets/budget.ts'
import type { Rule } from '../../core/budgets/rule.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { testSigner } from '../../testing/test-signer.ts'
import type { Judged } from './check-budgets.ts'
import { createFireRules } from './fire-rules.ts'

const actor = { kind: 'operator', id: 'olga' } as const
const rule = (id: string): Rule => ({
  kind: 'rule',
  id,
  version: 1,
  tenant: 'acme',
  owner: 'acme',
  when: { budget: { id: 'hourly', percent: 50 } },
  scope: { tenant: 'acme' },
  mode: 'finish_step',
  reason: 'half of the budget',
  holdNew: false,
  actor,
  createdAt: 0,
})

const budget: Budget = {
  kind: 'budget',
  id: 'hourly',
  version: 1,
  owner: 'acme',
  scope: { tenant: 'acme' },
  measure: 'tokens',
  per: 'hour',
  limit: 100,
  actor,
  createdAt: 0,
  startedAt: 0,
}

const inPeriod = (period: number): readonly Judged[] => {
  const figures = { spent: 60, allowed: 100, percent: 60, usedUp: false, period }
  return [{ budget, figures }]
}

/** How often each rule asked for its hold. */
function firing(rules: () => readonly Rule[]) {
  const asked: string[] = []
  const context = { signer: testSigner, clock: createManualClock(), log: () => undefined }
  const holds = {
    holdByRule: async ({ actor: { id } }: { actor: { id: string } }) => void asked.push(id),
  }
  return {
    asked,
    ...createFireRules({ context, holds }, { rules }),
  }
}

it('F3: a rule on a budget keeps its last firing in memory, and not those of earlier periods', async () => {
  const { asked, onFigures } = firing(() => [rule('a')])
  for (const period of [1, 1, 2, 2, 2]) await onFigures(inPeriod(period))
  expect(asked).toHaveLength(2)
  // The store knows that it was fired.
  await onFigures(inPeriod(1))
  expect(asked).toHaveLength(3)
})

it('F3: a rule that was removed keeps nothing in memory', async () => {
  let rules = [rule('a'), rule('b')]
  const { asked, onFigures } = firing(() => rules)
  await onFigures(inPeriod(1))
  rules = [rule('b')]
  await onFigures(inPeriod(1))
  rules = [rule('a'), rule('b')]
  await onFigures(inPeriod(1))
  expect(asked).toEqual(['a', 'b', 'a'])
})
