/** Tasks that a budget has stopped go on, also when a process dies in between (V2 in budgets.ts). */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { createHarness, type Harness, running, signal } from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const tokens = { scope: { tenant: 'acme' }, measure: 'tokens', limit: 10 } as const

const spender = running(async (task) => {
  await task.usage({ inputTokens: 20 })
  await task.step('next', () => 1)
  return 'done'
})

interface Dying {
  readonly store: Store
  /** The process dies after the next write of this method. */
  diesAfter(method: 'putPolicy' | 'removePolicy', process: Harness): Promise<void>
}

function dying(store: Store): Dying {
  let dies: { readonly after: string; readonly now: () => void } | undefined
  const written = (method: string): void => {
    if (dies?.after === method) dies.now()
  }
  return {
    store: {
      ...store,
      async putPolicy(...given) {
        const isWritten = await store.putPolicy(...given)
        written('putPolicy')
        return isWritten
      },
      async removePolicy(...given) {
        const isRemoved = await store.removePolicy(...given)
        written('removePolicy')
        return isRemoved
      },
    },
    diesAfter(after, process) {
      const { promise, fire } = signal()
      const now = (): void => {
        process.crash()
        fire()
      }
      dies = { after, now }
      return promise
    },
  }
}

/** A task that a budget of tokens has stopped. */
async function stopped(harness: Harness): Promise<{ id: string; budgetId: string }> {
  const { budget } = await harness.engine.setBudget(root, tokens)
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-client')
  await harness.settled()
  return { id, budgetId: budget.id }
}

const refill = ({ engine }: Harness, budgetId: string) => engine.refillBudget(root, { budgetId })
const raise = ({ engine }: Harness) => engine.setBudget(root, { ...tokens, limit: 100 })
const remove = ({ engine }: Harness, budgetId: string) => engine.removeBudget(root, budgetId)

describe('V2: a task that a budget has stopped', () => {
  it.each([
    ['was refilled', 'putPolicy', refill],
    ['was raised', 'putPolicy', raise],
    ['was to be removed', 'putPolicy', remove],
    ['was removed', 'removePolicy', remove],
  ] as const)(
    'goes on after a restart when the process died after the budget %s',
    async (...row) => {
      const [, method, change] = row
      const store = createMemoryStore()
      const { store: broken, diesAfter } = dying(store)
      const first = await createHarness({ agents: [spender], store: broken })
      const { id, budgetId } = await stopped(first)
      const died = diesAfter(method, first)
      change(first, budgetId).catch(() => undefined)
      await died
      const second = await first.recover({ store })
      expect((await second.ended(id)).state).toBe('completed')
    },
  )

  it('V3: is not left with a budget without a limit when the process died while it removed it', async () => {
    const store = createMemoryStore()
    const { store: broken, diesAfter } = dying(store)
    const first = await createHarness({ agents: [spender], store: broken })
    const { id, budgetId } = await stopped(first)
    const died = diesAfter('putPolicy', first)
    remove(first, budgetId).catch(() => undefined)
    await died
    expect(await store.policies()).toMatchObject([{ id: budgetId, removing: true }])
    const second = await first.recover({ store })
    expect(await second.engine.budgets(root)).toEqual([])
    expect((await second.ended(id)).state).toBe('completed')
    await second.settled()
    expect(await store.policies()).toEqual([])
  })

  it('V3: is not left without a limit when the budget is set again while another process removes it', async () => {
    const written = signal()
    let setting: Promise<unknown> | undefined
    // Only its write comes first: the answer to a new budget waits for both processes.
    const connection = (store: Store): Store => ({
      ...store,
      async putPolicy(...given) {
        const isWritten = await store.putPolicy(...given)
        if (setting !== undefined) written.fire()
        return isWritten
      },
      async removePolicy(...given) {
        setting ??= two.engine.setBudget(root, tokens)
        await written.promise
        return store.removePolicy(...given)
      },
    })
    const cluster = createClusterHarness({ agents: [spender], connection })
    const [one, two] = [await cluster.join(), await cluster.join()]
    const { budget } = await one.engine.setBudget(root, tokens)
    await one.engine.removeBudget(root, budget.id)
    await setting
    expect(await one.engine.budgets(root)).toMatchObject([{ id: budget.id, limit: tokens.limit }])
  })

  it('goes on when the process that refilled the budget has died, and another one lives', async () => {
    let connections = 0
    let broken: Dying | undefined
    const cluster = createClusterHarness({
      agents: [spender],
      connection(store) {
        if (++connections === 1) return store
        broken = dying(store)
        return broken.store
      },
    })
    const [one, two] = [await cluster.join(), await cluster.join()]
    const { id, budgetId } = await stopped(one)
    const died = broken?.diesAfter('putPolicy', two)
    refill(two, budgetId).catch(() => undefined)
    await died
    await cluster.pass(120_000)
    expect((await one.get(id)).state).toBe('completed')
  })

  it('goes on after a restart when it was stopped after the refill, and its process died', async () => {
    const store = createMemoryStore()
    let refillFirst: (() => Promise<unknown>) | undefined
    let died = (): void => undefined
    const stale: Store = {
      ...store,
      async spent(ids) {
        const counts = await store.spent(ids)
        const act = refillFirst
        if (counts.length > 0 && act !== undefined) {
          refillFirst = undefined
          await act()
        }
        return counts
      },
      async commit(batch) {
        const results = await store.commit(batch)
        if (batch.some(({ records }) => records.some(({ type }) => type === 'paused'))) died()
        return results
      },
    }
    const first = await createHarness({ agents: [spender], store: stale })
    const { budget } = await first.engine.setBudget(root, tokens)
    refillFirst = () => refill(first, budget.id)
    const death = signal()
    died = () => {
      first.crash()
      death.fire()
    }
    const { id } = await first.send('go')
    await death.promise
    const second = await first.recover({ store })
    expect((await second.ended(id)).state).toBe('completed')
  })

  it('stays stopped after a restart when the operator asked for that', async () => {
    const first = await createHarness({ agents: [spender] })
    const { id, budgetId } = await stopped(first)
    await first.engine.refillBudget(root, { budgetId, resume: false })
    const second = await first.recover()
    await second.settled()
    expect((await second.get(id)).state).toBe('paused-by-client')
    expect(await second.engine.setBudget(root, tokens)).toMatchObject({ resumed: 1 })
  })

  it('stays stopped after a restart while the budget is used up', async () => {
    const first = await createHarness({ agents: [spender] })
    const { id } = await stopped(first)
    const second = await first.recover()
    await second.settled()
    expect((await second.get(id)).state).toBe('paused-by-client')
  })
})
