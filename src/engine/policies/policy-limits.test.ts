import { describe, expect, it } from 'vitest'
import { sampleBudget } from '../../testing/sample-task.ts'
import type { Caller } from '../caller.ts'
import { createHarness, olga, running } from '../test-support/engine-harness.ts'
import { MOST_BUDGETS, MOST_RULES } from './budgets.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const acme = { tenant: 'acme' } as const
const onIncident = { onEvent: 'incident', scope: acme, reason: 'incident' } as const
const idle = running(() => 'done')

describe('the operators of a tenant', () => {
  it('cannot set budgets without end, and can still change those they have', async () => {
    const { engine, store } = await createHarness({ agents: [idle] })
    const budget = { scope: acme, measure: 'turns', limit: 5 } as const
    await engine.setBudget(olga, budget)
    for (let n = 1; n < MOST_BUDGETS; n++) await store.putPolicy(sampleBudget(`budget-${n}`), 0)
    const another = { ...budget, measure: 'tokens' } as const
    await expect(engine.setBudget(olga, another)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect((await engine.setBudget(olga, { ...budget, limit: 6 })).budget.limit).toBe(6)
    await engine.setBudget(root, another)
  })

  it('of all tenants can set a budget for each of more tenants than one may have budgets', async () => {
    const { engine, store } = await createHarness({ agents: [idle] })
    for (let n = 0; n < MOST_BUDGETS; n++) {
      const scope = { tenant: `tenant-${n}` }
      await store.putPolicy(sampleBudget(`budget-${n}`, { owner: '*', scope }), 0)
    }
    const inAcme: Caller = { ...root, tenant: 'acme', ofAllTenants: true }
    const budget = { scope: acme, measure: 'turns', limit: 5 } as const
    await engine.setBudget(root, budget)
    await engine.setBudget(inAcme, budget)
    expect(await engine.budgets(olga)).toHaveLength(2)
  })

  it('cannot add rules without end', async () => {
    const { engine } = await createHarness({ agents: [idle] })
    for (let n = 0; n < MOST_RULES; n++) await engine.addRule(olga, onIncident)
    await expect(engine.addRule(olga, onIncident)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    await engine.addRule(root, onIncident)
  })
})
