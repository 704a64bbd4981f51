/** Forks on a store that other processes use too. */
import { describe, expect, it } from 'vitest'
import type { Commit } from '../../ports/store/tasks.ts'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, effects, running } from '../test-support/engine-harness.ts'

const root = { tenant: '*', principal: 'root', operator: true }

/**
 * Two processes and a completed task. `act` is called once, before a commit that `isMeant` finds is given to the store by
 * the first process.
 */
async function twoProcesses() {
  const done = effects()
  const shop = running(async (task) => {
    await task.step('price', () => 7)
    const { input } = await task.park({ reason: 'may it be shipped?' })
    await task.step('ship', () => done.note(`shipped, ${input}`))
  })
  let interruption: readonly [(commit: Commit) => boolean, () => Promise<unknown>] | undefined
  let joined = 0
  const connection = (store: Store): Store => {
    if (joined++ > 0) return store
    const commit: Store['commit'] = async (batch) => {
      const [isMeant, act] = interruption ?? []
      if (isMeant !== undefined && batch.some(isMeant)) {
        interruption = undefined
        await act?.()
      }
      return store.commit(batch)
    }
    return { ...store, commit }
  }
  const cluster = createClusterHarness({ agents: [shop], connection })
  const a = await cluster.join()
  const b = await cluster.join()
  const { id } = await a.send('go')
  await a.until(id, 'paused-by-agent')
  await a.engine.resume(alice, { taskId: id, input: 'yes' })
  await a.until(id, 'completed')
  await cluster.settled()
  const before = (isMeant: (commit: Commit) => boolean, act: () => Promise<unknown>): void => {
    interruption = [isMeant, act]
  }
  return { cluster, a, b, id, done, before }
}

const creates = ({ expected }: Commit): boolean => expected === 0

describe('a fork', () => {
  it('F3: is held by a hold on new tasks that another process places while it is created', async () => {
    const { cluster, a, b, id, before } = await twoProcesses()
    let holding: Promise<unknown> = Promise.resolve()
    before(creates, async () => {
      const scope = { tenant: 'acme' }
      holding = b.engine.hold(root, { scope, reason: 'stop', holdNew: true })
      while ((await b.store.holds()).length === 0) await cluster.settled()
    })
    const fork = await a.engine.fork(alice, { taskId: id, at: 'price', paused: true })
    await holding
    expect((await a.get(fork.id)).holds).toHaveLength(1)
  })
})
