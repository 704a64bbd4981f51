import type { Spent } from '../../core/budgets/budget.ts'
import type { Rule } from '../../core/budgets/rule.ts'
import { LARGEST_COUNT } from '../../ports/store/policies.ts'
import { creation, sampleBudget, sampleHold } from '../sample-task.ts'
import type { Subject } from './subject.ts'

const budget = sampleBudget('budget-1')

const rule: Rule = {
  kind: 'rule',
  id: 'rule-1',
  version: 1,
  tenant: 'acme',
  owner: 'acme',
  when: { filter: { prefix: { type: 'incident.' } } },
  scope: { tenant: 'acme' },
  mode: 'interrupt_immediate',
  reason: 'an incident',
  holdNew: true,
  actor: { kind: 'operator', id: 'alice' },
  createdAt: 20,
}

export function policies(subject: Subject): void {
  const { it, expect } = subject.kit
  const spent = (amount: number, period = 100, budgetId = 'budget-1'): Spent => ({
    budgetId,
    period,
    amount,
  })

  it('keeps budgets and rules, ordered by id, across a restart', async () => {
    const { store } = subject
    expect(await store.policies()).toEqual([])
    expect(await store.putPolicy(rule, 0)).toBe(true)
    expect(await store.putPolicy(budget, 0)).toBe(true)
    const again = await subject.reopen()
    expect(await again.policies()).toEqual([budget, rule])
    expect(await again.removePolicy(rule.id, 1)).toBe(true)
    expect(await again.removePolicy('unknown', 1)).toBe(true)
    expect(await again.policies()).toEqual([budget])
  })

  it('changes a policy only when its version is the expected one', async () => {
    const { store } = subject
    const second = { ...budget, version: 2, limit: 2_000 }
    expect(await store.putPolicy(second, 1)).toBe(false)
    expect(await store.putPolicy(budget, 0)).toBe(true)
    expect(await store.putPolicy(second, 0)).toBe(false)
    expect(await store.putPolicy(second, 2)).toBe(false)
    expect(await store.policies()).toEqual([budget])
    expect(await store.putPolicy(second, 1)).toBe(true)
    expect(await store.policies()).toEqual([second])
    expect(await store.removePolicy(budget.id, 1)).toBe(false)
    expect(await store.policies()).toEqual([second])
    expect(await store.removePolicy(budget.id, 2)).toBe(true)
    expect(await store.policies()).toEqual([])
  })

  it('D3: counts what a commit uses of budgets, with its records or not at all', async () => {
    const { store } = subject
    const first = creation('task-1')
    const results = await store.commit([
      { ...first, spending: [spent(5), spent(7, 100, 'budget-2')] },
      { ...creation('task-2'), spending: [spent(3)] },
      // This commit conflicts, because the task already exists.
      { ...first, spending: [spent(1_000)] },
    ])
    expect(results.map(({ status }) => status)).toEqual(['written', 'written', 'conflict'])
    const again = await subject.reopen()
    const counted = await again.spent(['budget-2', 'budget-1', 'budget-3'].map((id) => ({ id })))
    expect([...counted].sort((a, b) => (a.budgetId < b.budgetId ? -1 : 1))).toEqual([
      spent(8),
      spent(7, 100, 'budget-2'),
    ])
  })

  it('starts a count again with each period, and leaves out what is late', async () => {
    const { store } = subject
    const spend = (id: string, ...spending: readonly Spent[]) =>
      store.commit([{ ...creation(id), spending }])
    await spend('task-1', spent(5, 100))
    await spend('task-2', spent(6, 200))
    await spend('task-3', spent(7, 100))
    await spend('task-4', spent(1, 200))
    expect(await store.spent([{ id: 'budget-1', tenant: 'acme' }])).toEqual([spent(7, 200)])
  })

  it('adds up the tenants of a budget that counts all of them, in their latest period', async () => {
    const { store } = subject
    await store.commit([
      { ...creation('task-1'), spending: [spent(5, 200)] },
      { ...creation('task-2', { tenant: 'other' }), spending: [spent(6, 200)] },
      { ...creation('task-3', { tenant: 'third' }), spending: [spent(7, 100)] },
    ])
    expect(await store.spent([{ id: 'budget-1' }])).toEqual([spent(11, 200)])
  })

  it('keeps a count that can grow no more', async () => {
    const { store } = subject
    const most = spent(LARGEST_COUNT)
    await store.commit([{ ...creation('task-1'), spending: [most] }])
    await store.commit([{ ...creation('task-2'), spending: [spent(10)] }])
    expect(await store.spent([{ id: 'budget-1', tenant: 'acme' }])).toEqual([most])
  })
}

export function notes(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps the latest value of each key', async () => {
    const { store } = subject
    expect(await store.getValue('cursor')).toBeUndefined()
    await store.setValue('cursor', 1)
    await store.setValue('cursor', { pos: 2, of: ['a', null] })
    await store.setValue('other', null)
    expect(await store.getValue('cursor')).toEqual({ pos: 2, of: ['a', null] })
    expect(await store.getValue('other')).toBeNull()
  })

  it('replaces a value only when it is the one that was read', async () => {
    const { store } = subject
    const [first, second] = [{ list: ['a', null, 'ß\u0000'] }, { list: [], n: 1.5 }]
    expect(await store.replaceValue('keys', first, second)).toBe(false)
    expect(await store.getValue('keys')).toBeUndefined()
    expect(await store.replaceValue('keys', undefined, first)).toBe(true)
    expect(await store.replaceValue('keys', undefined, second)).toBe(false)
    expect(await store.replaceValue('keys', second, first)).toBe(false)
    expect(await store.getValue('keys')).toEqual(first)
    const read = await store.getValue('keys')
    expect(await store.replaceValue('keys', read, second)).toBe(true)
    expect(await store.getValue('keys')).toEqual(second)
  })

  it('keeps holds until they are lifted, oldest first; lifted ones are shown on request', async () => {
    const { store } = subject
    const late = sampleHold('hold-1', { createdAt: 20, scope: { tenant: 'acme', agent: 'travel' } })
    const early = sampleHold('hold-2', { createdAt: 10, holdNew: true })
    await store.putHold(late)
    await store.putHold(early)
    await store.putHold(early)
    expect(await store.holds()).toEqual([early, late])

    const lifted = { ...early, liftedAt: 30 }
    await store.putHold(lifted)
    expect(await store.holds()).toEqual([late])
    expect(await store.holds(true)).toEqual([lifted, late])
  })

  it('keeps both across a restart', async () => {
    await subject.store.setValue('cursor', 7)
    await subject.store.putHold(sampleHold('hold-1'))
    const again = await subject.reopen()
    expect(await again.getValue('cursor')).toBe(7)
    expect(await again.holds()).toEqual([sampleHold('hold-1')])
  })
}
