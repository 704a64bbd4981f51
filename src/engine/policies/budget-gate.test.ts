import { describe, expect, it } from 'vitest'
import { pauseModes } from '../../core/suspension.ts'
import type { BudgetKey } from '../../ports/store/policies.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { alice, createHarness, running } from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const budget = { scope: { tenant: 'acme' }, measure: 'tokens', limit: 100 } as const

const inTurn = running(async (task) => {
  await task.turn(async (turn) => {
    await turn.tool('one', () => 1)
    await turn.tool('two', () => 2)
  })
  await task.step('after', () => 3)
  return 'done'
})

const outside = running(async (task) => {
  await task.step('one', () => 1)
  await task.step('two', () => 2)
  await task.step('after', () => 3)
  return 'done'
})

const inBatch = running(async (task) => {
  await task.turn((turn) =>
    turn.tools(['one', 'two', 'three'].map((name) => ({ name, run: () => name }))),
  )
  await task.step('after', () => 3)
  return 'done'
})

const cases = pauseModes.flatMap((mode) => [
  { mode, place: 'inside a turn', agent: inTurn },
  { mode, place: 'outside of turns', agent: outside },
  { mode, place: 'in a batch', agent: inBatch },
])

describe('an operation that asks for its budget', () => {
  it.each(cases)(
    'K1: meets a pause of mode $mode $place, and goes on after the resume',
    async ({ mode, agent }) => {
      const store = createMemoryStore()
      let calls = 0
      let pause: (() => Promise<unknown>) | undefined
      const pausing = {
        ...store,
        async spent(ids: readonly BudgetKey[]) {
          const counts = await store.spent(ids)
          // The pause comes while the second operation asks.
          if (++calls === 2) await pause?.()
          return counts
        },
      }
      const harness = await createHarness({ agents: [agent], store: pausing })
      await harness.engine.setBudget(root, budget)
      calls = 0
      let answered: Promise<unknown> | undefined
      const sent = harness.send('go')
      pause = async () => {
        const { id: taskId } = await sent
        answered = harness.engine.pause(alice, { taskId, mode, reason: 'mine' })
        await harness.until(
          taskId,
          (task) => task.pausing !== undefined || task.state !== 'working',
        )
      }
      const { id } = await sent
      await harness.until(id, 'paused-by-client')
      await answered
      await harness.engine.resume(alice, { taskId: id })
      expect((await harness.ended(id)).state).toBe('completed')
    },
  )

  it('K1: in a batch goes on to the end of the batch when the budget is used up meanwhile', async () => {
    const ran: string[] = []
    const batch = running(async (task) => {
      if (task.text === 'spend') return task.usage({ inputTokens: 200 })
      const tool = (name: string, run = async () => {}) => ({
        name,
        run: async () => {
          await run()
          ran.push(name)
          return name
        },
      })
      const spend = async (): Promise<void> => {
        await harness.until((await harness.send('spend')).id, 'paused-by-client')
      }
      await task.turn((turn) => turn.tools([tool('one', spend), tool('two')]))
      await task.step('after', () => ran.push('after'))
      return 'done'
    })
    const harness = await createHarness({ agents: [batch] })
    await harness.engine.setBudget(root, budget)
    const { id } = await harness.send('work')
    expect((await harness.until(id, 'paused-by-client')).suspension?.actor.kind).toBe('policy')
    expect(ran).toEqual(['one', 'two'])
  })

  it('K1: inside a turn goes on to its end when a rule stops the task with wait_for_completion', async () => {
    const harness = await createHarness({ agents: [inTurn] })
    const set = { ...budget, measure: 'turns', limit: 2 } as const
    const made = await harness.engine.setBudget(root, set)
    await harness.engine.addRule(root, {
      budget: { id: made.budget.id, percent: 50 },
      scope: budget.scope,
      mode: 'wait_for_completion',
      reason: 'half of the turns',
    })
    const { id } = await harness.send('go')
    expect((await harness.until(id, 'paused-by-client')).holds).toHaveLength(1)
  })
})
