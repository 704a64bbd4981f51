import { describe, expect, it } from 'vitest'
import type { Caller } from '../caller.ts'
import { alice, createHarness, olga, running } from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const acme = { tenant: 'acme' } as const
const tokens = { scope: acme, measure: 'tokens', limit: 10 } as const

const spender = running(async (task) => {
  await task.usage({ inputTokens: 20 })
  await task.step('next', () => 1)
  return 'done'
})

describe('a task that a budget stopped and a caller paused', () => {
  it('stays paused when the budget is refilled, and goes on when it is resumed', async () => {
    const harness = await createHarness({ agents: [spender] })
    const { budget } = await harness.engine.setBudget(root, tokens)
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-client')
    await harness.engine.pause(alice, { taskId: id, reason: 'mine' })
    const refilled = await harness.engine.refillBudget(root, { budgetId: budget.id })
    expect(refilled.resumed).toBe(0)
    expect(await harness.get(id)).toMatchObject({
      state: 'paused-by-client',
      suspension: { reason: 'mine', actor: { id: 'alice' } },
    })
    await harness.engine.resume(alice, { taskId: id })
    expect((await harness.ended(id)).state).toBe('completed')
  })

  it('stays paused when the next period begins', async () => {
    const harness = await createHarness({ agents: [spender] })
    await harness.engine.setBudget(root, { ...tokens, per: 'hour' })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-client')
    await harness.engine.pause(alice, { taskId: id, reason: 'mine' })
    await harness.pass(2 * 3_600_000)
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-client')
  })
})

describe('a budget that an operator of all tenants set', () => {
  it('is another one than that of the operator of the tenant, who cannot change it', async () => {
    const { engine } = await createHarness({ agents: [spender] })
    const { budget } = await engine.setBudget(root, tokens)
    const own = await engine.setBudget(olga, { ...tokens, scope: { all: true }, limit: 1_000 })
    expect(own.budget).toMatchObject({ scope: acme, owner: 'acme', limit: 1_000 })
    expect(own.budget.id).not.toBe(budget.id)
    const refused = { code: 'INVALID_INPUT', details: { path: 'budgetId' } }
    const budgetId = budget.id
    await expect(engine.refillBudget(olga, { budgetId })).rejects.toMatchObject(refused)
    await expect(engine.removeBudget(olga, budgetId)).rejects.toMatchObject(refused)
    const listed = await engine.budgets(olga)
    expect(listed.find(({ id }) => id === budgetId)).toMatchObject({ owner: '*', limit: 10 })
    // Operators of all tenants change those of a tenant, too.
    await engine.removeBudget(root, own.budget.id)
    expect(await engine.budgets(root)).toHaveLength(1)
  })

  it('set by an operator of all tenants within a tenant is the same one, and becomes theirs', async () => {
    const { engine } = await createHarness({ agents: [spender] })
    const { budget } = await engine.setBudget(olga, tokens)
    const rootInAcme: Caller = { ...root, tenant: 'acme', ofAllTenants: true }
    await engine.setBudget(rootInAcme, { ...tokens, limit: 100 })
    const all = await engine.budgets(root)
    expect(all).toMatchObject([{ id: budget.id, limit: 100, owner: '*' }])
    const refused = { code: 'INVALID_INPUT', details: { path: 'budgetId' } }
    await expect(engine.setBudget(olga, tokens)).rejects.toMatchObject(refused)
  })

  it('does not tell a tenant what the others use', async () => {
    const harness = await createHarness({ agents: [spender] })
    const { budget } = await harness.engine.setBudget(root, { ...tokens, scope: { all: true } })
    const { id } = await harness.send('go')
    const { suspension } = await harness.until(id, 'paused-by-client')
    const figures = `a budget of the operator (${budget.id})`
    expect(suspension?.reason).toBe(`budget used up: ${figures}`)
    await expect(harness.engine.resume(alice, { taskId: id })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      details: { figures },
    })
  })

  it('has rules that the operator of the tenant cannot remove', async () => {
    const { engine } = await createHarness({ agents: [spender] })
    const rule = await engine.addRule(root, { onEvent: 'incident', scope: acme, reason: 'stop' })
    await expect(engine.removeRule(olga, rule.id)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await engine.rules(root)).toHaveLength(1)
    await engine.removeRule(root, rule.id)
  })
})

describe('running time', () => {
  it('does not contain the time in which no process ran the task', async () => {
    const endless = running((task) => task.step('long', () => new Promise<string>(() => undefined)))
    const first = await createHarness({ agents: [endless] })
    await first.engine.setBudget(root, { scope: acme, measure: 'wallMs', limit: 60_000 })
    const { id } = await first.send('go')
    await first.until(id, 'working')
    await first.settled()
    // The next process applies this hold before it takes the task over.
    const actor = { kind: 'operator', id: 'root' }
    const hold = { id: 'hold-z', owner: '*', scope: acme, reason: 'stop', holdNew: false, actor }
    await first.store.putHold({ ...hold, createdAt: first.clock.now() })
    first.clock.advance(8 * 3_600_000)
    const second = await first.recover()
    await second.settled()
    expect(await second.types(id)).toContain('held')
    expect(await second.engine.budgets(root)).toMatchObject([{ spent: 0 }])
  })
})
