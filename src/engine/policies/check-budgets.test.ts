/** `check-budgets.ts`, and V1 of `budgets.ts`. */
import { describe, expect, it } from 'vitest'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { BudgetKey } from '../../ports/store/policies.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { agent } from '../author/agent.ts'
import type { AgentTask } from '../author/agent-task.ts'
import type { Caller } from '../caller.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import {
  alice,
  createHarness,
  mallory,
  olga,
  running,
  signal,
} from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }

const tokens = (limit: number) => ({ scope: { tenant: 'acme' }, measure: 'tokens', limit }) as const

/** Each turn of its loop is one step that uses ten tokens. */
const spender = (turns = 100, some: { name?: string; concurrency?: number } = {}) =>
  running(async (task) => {
    for (let n = 0; n < turns; n++) {
      await task.step('model', () => n)
      await task.usage({ inputTokens: 7, outputTokens: 3, costUsd: 0.1 })
    }
    return 'done'
  }, some)

const steps = (task: Task) => task.usage.inputTokens / 7

describe('a budget that is used up', () => {
  it('K1: stops the task at the report of usage, with the figures in the reason', async () => {
    const harness = await createHarness({ agents: [spender()] })
    const { budget } = await harness.engine.setBudget(root, tokens(45))
    const { id } = await harness.send('spend')
    const task = await harness.until(id, 'paused-by-client')
    expect(steps(task)).toBe(5)
    expect(task.suspension).toMatchObject({
      actor: { kind: 'policy', id: budget.id },
      initiator: 'client',
      reason: `budget used up: 50 of 45 tokens of tenant acme (${budget.id})`,
    })
    expect(await harness.engine.budgets(root)).toMatchObject([
      { id: budget.id, spent: 50, allowed: 45, percent: 111, usedUp: true },
    ])
  })

  it.each([
    [{ measure: 'inputTokens', limit: 14 }, 2],
    [{ measure: 'outputTokens', limit: 10 }, 4],
    [{ measure: 'costUsd', limit: 0.3 }, 3],
    [{ measure: 'turns', limit: 3 }, 3],
  ] as const)('measures %j', async (measured, expected) => {
    const harness = await createHarness({ agents: [spender()] })
    await harness.engine.setBudget(root, { scope: { agent: 'worker' }, ...measured })
    const { id } = await harness.send('spend')
    expect(steps(await harness.until(id, 'paused-by-client'))).toBe(expected)
  })

  it('measures the time in which a task runs, not the time in which it is stopped', async () => {
    const timed = running(async (task) => {
      for (const name of ['one', 'two', 'three']) {
        await task.step(name, async () => harness.clock.advance(400))
        if (name === 'one') await task.park({ reason: 'wait' })
      }
    })
    const harness = await createHarness({ agents: [timed] })
    const scope = { tenant: 'acme' } as const
    await harness.engine.setBudget(root, { scope, measure: 'wallMs', limit: 800 })
    const { id } = await harness.send('run')
    await harness.until(id, 'paused-by-agent')
    harness.clock.advance(10_000)
    await harness.engine.resume(alice, { taskId: id })
    const task = await harness.until(id, 'paused-by-client')
    expect(task.suspension?.reason).toContain('0.8 of 0.8 s of running time')
    expect((await harness.log(id)).filter(({ type }) => type === 'step')).toHaveLength(2)
  })

  it.each([
    ['context', (task: Task) => ({ contextId: task.contextId })],
    ['task', (task: Task) => ({ taskIds: [task.id] })],
    ['agent of a tenant', () => ({ agent: 'worker', tenant: 'acme' })],
  ])('can be that of a %s', async (_, scopeOf) => {
    const parking = running(async (task) => {
      await task.park({ reason: 'first' })
      await task.usage({ inputTokens: 10 })
      await task.step('never', () => undefined)
    })
    const harness = await createHarness({ agents: [parking] })
    const { id } = await harness.send('park')
    const scope = scopeOf(await harness.until(id, 'paused-by-agent'))
    await harness.engine.setBudget(root, { scope, measure: 'tokens', limit: 10 })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'paused-by-client')
    expect(await harness.types(id)).not.toContain('step')
  })

  it('does not stop tasks outside of its scope, nor those that end by themselves', async () => {
    const harness = await createHarness({ agents: [spender(2)] })
    await harness.engine.setBudget(root, { ...tokens(20) })
    const other = await harness.engine.send(mallory, {
      message: { messageId: 'other', role: 'ROLE_USER', parts: [{ text: 'spend' }] },
    })
    if (other.kind !== 'task') throw new Error('no task')
    const over = await harness.engine.waitFor(root, other.task.id, ({ state }) => isTerminal(state))
    expect(over.state).toBe('completed')
    expect((await harness.engine.budgets(root))[0]).toMatchObject({ spent: 0 })
  })

  it('K2: stops two children that cross it in the middle of a turn once each', async () => {
    const parent = agent({
      name: 'parent',
      description: 'delegates twice',
      async run(task: AgentTask) {
        const children = [await task.delegate('worker', 'a'), await task.delegate('worker', 'b')]
        await Promise.all(children.map((child) => child.result()))
      },
    })
    const both = signal()
    let begun = 0
    const child = running(async (task) => {
      await task.turn(async (turn) => {
        await turn.tool('model', async () => {
          if (++begun === 2) both.fire()
          await both.promise
          await task.usage({ inputTokens: 20 })
        })
        await Promise.all([turn.tool('one', () => 1), turn.tool('two', () => 2)])
      })
    })
    const harness = await createHarness({ agents: [parent, child] })
    await harness.engine.setBudget(root, { ...tokens(15), scope: { agent: 'worker' } })
    const { id } = await harness.send('go')
    await harness.settled()
    const { children } = await harness.get(id)
    expect(children).toHaveLength(2)
    for (const childId of children) {
      await harness.until(childId, 'paused-by-client')
      const stops = (await harness.types(childId)).filter((type) => type === 'paused')
      expect(stops).toHaveLength(1)
    }
    expect((await harness.engine.budgets(root))[0]).toMatchObject({ spent: 40 })
  })

  it('K1: lets 1,000 tasks of a tenant use at most what was in flight beyond it', async () => {
    const atOnce = 20
    const harness = await createHarness({ agents: [spender(3, { concurrency: atOnce })] })
    await harness.engine.setBudget(root, tokens(1_000))
    const sent = await Promise.all(Array.from({ length: 1_000 }, (_, n) => harness.send(`${n}`)))
    await harness.settled()
    const tasks = await Promise.all(sent.map(({ id }) => harness.get(id)))
    const used = tasks.reduce((sum, task) => sum + 10 * steps(task), 0)
    const [figures] = await harness.engine.budgets(root)
    expect(figures?.spent).toBe(used)
    expect(used).toBeGreaterThanOrEqual(1_000)
    expect(used).toBeLessThanOrEqual(1_000 + 10 * atOnce)
    expect(new Set(tasks.map(({ state }) => state))).toEqual(
      new Set(['completed', 'paused-by-client']),
    )
  })

  it('K1 V1: is used up for every process of a cluster', async () => {
    const cluster = createClusterHarness({ agents: [spender(3, { concurrency: 5 })] })
    const [one, two] = [await cluster.join(), await cluster.join()]
    const setting = one.engine.setBudget(root, tokens(200))
    await cluster.pass(10_000)
    await setting
    const sent = await Promise.all(
      [one, two].flatMap((process) => Array.from({ length: 30 }, () => process.send('spend'))),
    )
    await cluster.settled()
    const tasks = await Promise.all(sent.map(({ id }) => one.get(id)))
    const used = tasks.reduce((sum, task) => sum + 10 * steps(task), 0)
    expect((await two.engine.budgets(root))[0]).toMatchObject({ spent: used, usedUp: true })
    expect(used).toBeLessThanOrEqual(200 + 10 * 10)
    expect(tasks.every(({ state }) => state !== 'working' && state !== 'submitted')).toBe(true)
  })
})

describe('warnings', () => {
  it('K3: reach the agent once each, as reminders', async () => {
    const seen: string[] = []
    const reader = running(async (task) => {
      for (let n = 0; n < 9; n++) {
        await task.turn(async (turn) => {
          seen.push(...turn.reminders.map(({ body }) => body.slice(0, 10)))
          await turn.tool('model', () => n)
        })
        await task.usage({ inputTokens: 10 })
      }
      await task.turn(async (turn) => {
        seen.push(...turn.reminders.map(({ body }) => body.slice(0, 10)))
      })
    })
    const harness = await createHarness({ agents: [reader] })
    await harness.engine.setBudget(root, tokens(92))
    const { id } = await harness.send('go')
    await harness.ended(id)
    expect(seen).toEqual(['70 percent', '85 percent', '95 percent'])
  })

  it('K3: wait, without a try for each operation, until there is room for a reminder', async () => {
    const store = createMemoryStore()
    const spend = running(async (task) => {
      await task.usage({ inputTokens: 80 })
      for (let n = 0; n < 5; n++) await task.step('work', () => n)
    })
    const options = { pendingReminders: 1 }
    const harness = await createHarness({ agents: [spend], store, options })
    await harness.engine.setBudget(root, tokens(100))
    const { id } = await harness.send('go', { reminders: [{ body: 'first', ttlTurns: 100 }] })
    await harness.ended(id)
    expect(harness.said.filter(({ level }) => level === 'warn')).toEqual([])
  })
})

describe('a refill', () => {
  it.each([
    ['an amount', { amount: 20 }, 7, { spent: 70, allowed: 65 }],
    ['no amount', {}, 10, { spent: 50, allowed: 45 }],
  ])('with %s resumes what the budget stopped', async (_, refill, expected, figures) => {
    const harness = await createHarness({ agents: [spender()] })
    const { budget } = await harness.engine.setBudget(root, tokens(45))
    const { id } = await harness.send('spend')
    const { suspension } = await harness.until(id, 'paused-by-client')
    const { resumed } = await harness.engine.refillBudget(root, { budgetId: budget.id, ...refill })
    expect(resumed).toBe(1)
    const task = await harness.until(id, ({ epoch }) => epoch === 2)
    await harness.settled()
    expect(steps(await harness.get(id))).toBe(expected)
    expect(task.resumes.map(({ handle }) => handle)).toEqual([suspension?.handle])
    expect((await harness.engine.budgets(root))[0]).toMatchObject(figures)
  })

  it('resumes nothing else: not what a caller paused, not where more is used up', async () => {
    const harness = await createHarness({ agents: [spender()] })
    const { budget } = await harness.engine.setBudget(root, tokens(45))
    const { id } = await harness.send('spend')
    await harness.until(id, 'paused-by-client')
    const few = await harness.engine.refillBudget(root, { budgetId: budget.id, amount: 1 })
    expect(few).toMatchObject({ resumed: 0, budget: { spent: 50, allowed: 46, usedUp: true } })
    const kept = { budgetId: budget.id, amount: 100, resume: false } as const
    expect(await harness.engine.refillBudget(root, kept)).toMatchObject({ resumed: 0 })
    expect((await harness.get(id)).state).toBe('paused-by-client')
    // Setting it again, unchanged, resumes the rest.
    expect(await harness.engine.setBudget(root, tokens(45))).toMatchObject({ resumed: 1 })
  })

  it('K4: resumes a task that was about to stop when the budget was refilled', async () => {
    const store = createMemoryStore()
    let refill: (() => Promise<unknown>) | undefined
    const stale = {
      ...store,
      async spent(ids: readonly BudgetKey[]) {
        const counts = await store.spent(ids)
        // The budget is refilled after its count was read and before the task is stopped.
        const first = refill
        if (first !== undefined && counts.some(({ amount }) => amount >= 45)) {
          refill = undefined
          await first()
        }
        return counts
      },
    }
    const harness = await createHarness({ agents: [spender(7)], store: stale })
    const { budget } = await harness.engine.setBudget(root, tokens(45))
    refill = () => harness.engine.refillBudget(root, { budgetId: budget.id, amount: 100 })
    const { id } = await harness.send('spend')
    expect((await harness.ended(id)).state).toBe('completed')
    expect(await harness.types(id)).toContain('resumed')
  })

  it('is not needed when the budget is removed', async () => {
    const harness = await createHarness({ agents: [spender(7)] })
    const { budget } = await harness.engine.setBudget(root, tokens(45))
    const { id } = await harness.send('spend')
    await harness.until(id, 'paused-by-client')
    expect(await harness.engine.removeBudget(root, budget.id)).toEqual({ resumed: 1 })
    expect((await harness.ended(id)).state).toBe('completed')
    expect(await harness.engine.budgets(root)).toEqual([])
  })
})

describe('a task under a budget that is used up', () => {
  it('cannot be resumed, and the refusal has the figures', async () => {
    const harness = await createHarness({ agents: [spender()] })
    const { budget } = await harness.engine.setBudget(root, tokens(45))
    const { id } = await harness.send('spend')
    await harness.until(id, 'paused-by-client')
    await expect(harness.engine.resume(alice, { taskId: id })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      details: { taskId: id, budgetId: budget.id, figures: expect.stringContaining('50 of 45') },
    })
    await harness.engine.cancel(alice, { taskId: id })
    expect((await harness.get(id)).state).toBe('canceled')
  })

  it('goes on by itself when the next hour begins', async () => {
    const harness = await createHarness({ agents: [spender()] })
    await harness.engine.setBudget(root, { ...tokens(45), per: 'hour' })
    const { id } = await harness.send('spend')
    await harness.until(id, 'paused-by-client')
    await harness.pass(3_600_000)
    const task = await harness.until(id, ({ epoch }) => epoch === 2)
    expect(task.wake?.cause).toBe('condition_fired')
    await harness.settled()
    expect(steps(await harness.get(id))).toBe(10)
  })

  it('that is woken by an event is stopped before its next step', async () => {
    const waiting = running(async (task) => {
      await task.usage({ inputTokens: 10 })
      await task.park({ reason: 'wait', onEvent: 'go' })
      await task.step('never', () => undefined)
    })
    const harness = await createHarness({ agents: [waiting] })
    const { id } = await harness.send('wait')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.setBudget(root, tokens(0))
    await harness.emit('go')
    await harness.until(id, 'paused-by-client')
    expect(await harness.types(id)).not.toContain('step')
  })
})

describe('budgets', () => {
  it('and their figures survive a crash; nothing is counted twice', async () => {
    const first = await createHarness({ agents: [spender()], store: createMemoryStore() })
    await first.engine.setBudget(root, tokens(45))
    const { id } = await first.send('spend')
    await first.until(id, 'paused-by-client')
    const second = await first.recover()
    expect((await second.engine.budgets(root))[0]).toMatchObject({ spent: 50, limit: 45 })
    await second.engine.setBudget(root, tokens(65))
    await second.until(id, ({ epoch }) => epoch === 2)
    await second.settled()
    expect((await second.engine.budgets(root))[0]).toMatchObject({ spent: 70 })
    expect(steps(await second.get(id))).toBe(7)
  })

  it('of a tenant are seen and changed by its operators and by those of all tenants', async () => {
    const harness = await createHarness({ agents: [spender()] })
    const { engine } = harness
    const set = await engine.setBudget(olga, { ...tokens(10), scope: { all: true } })
    expect(set.budget.scope).toEqual({ tenant: 'acme' })
    const stranger: Caller = { tenant: 'evil', principal: 'eve', operator: true }
    expect(await engine.budgets(stranger)).toEqual([])
    const budgetId = set.budget.id
    const unknown = { code: 'NOT_FOUND', details: { what: 'budget' } }
    await expect(engine.refillBudget(stranger, { budgetId })).rejects.toMatchObject(unknown)
    await expect(engine.removeBudget(stranger, budgetId)).rejects.toMatchObject(unknown)
    await expect(engine.budgets(alice)).rejects.toMatchObject({ code: 'NOT_OFFERED' })
    expect(await engine.budgets(root)).toHaveLength(1)
  })

  it('K5: cost no call of the store where there are none', async () => {
    const store = createMemoryStore()
    const calls: string[] = []
    const watched = {
      ...store,
      spent: (ids: readonly BudgetKey[]) => {
        calls.push('spent')
        return store.spent(ids)
      },
    }
    const harness = await createHarness({ agents: [spender(2)], store: watched })
    const { id } = await harness.send('spend')
    await harness.ended(id)
    expect(calls).toEqual([])
    await harness.engine.setBudget(root, tokens(1_000))
    await harness.ended((await harness.send('spend')).id)
    expect(calls.length).toBeGreaterThan(0)
  })
})
