/** Forks on a store that other processes use too. */
import { describe, expect, it } from 'vitest'
import type { Commit } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import { createClusterHarness } from '../../test-support/cluster-harness.ts'
import { alice, effects, running } from '../../test-support/engine-harness.ts'

const root = { tenant: '*', principal: 'root', operator: true }

type IsMeant = (commit: Commit) => boolean
type Act = (taskId: string) => Promise<unknown>

/** Two processes and a completed task. `interrupt` does something before a commit of the first process gets to the store. */
async function twoProcesses() {
  const done = effects()
  const shop = running(async (task) => {
    await task.step('price', () => 7)
    const { input } = await task.park({ reason: 'may it be shipped?' })
    await task.step('ship', () => done.note(`shipped, ${input}`))
  })
  let interruption: readonly [IsMeant, Act] | undefined
  let joined = 0
  const connection = (store: Store): Store => {
    if (joined++ > 0) return store
    const commit: Store['commit'] = async (batch) => {
      const [isMeant = () => false, act] = interruption ?? []
      const meant = batch.find(isMeant)
      if (meant !== undefined) {
        interruption = undefined
        await act?.(meant.taskId)
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
  const interrupt = (isMeant: IsMeant, act: Act): void => {
    interruption = [isMeant, act]
  }
  return { cluster, a, b, id, done, interrupt }
}

const creates = ({ expected }: Commit): boolean => expected === 0
const wakes = (commit: Commit): boolean =>
  !creates(commit) && commit.records.some(({ type }) => type === 'resumed')

describe('a fork', () => {
  it('F3: is held by a hold on new tasks that another process places while it is created', async () => {
    const { cluster, a, b, id, interrupt } = await twoProcesses()
    let holding: Promise<unknown> = Promise.resolve()
    interrupt(creates, async () => {
      const scope = { tenant: 'acme' }
      holding = b.engine.hold(root, { scope, reason: 'stop', holdNew: true })
      while ((await b.store.holds()).length === 0) await cluster.settled()
    })
    const fork = await a.engine.fork(alice, { taskId: id, at: 'price', paused: true })
    await holding
    expect((await a.get(fork.id)).holds).toHaveLength(1)
  })
  it('F4: of two processes with one key does not pass the park that its code has reached meanwhile', async () => {
    const { cluster, a, b, id, done, interrupt } = await twoProcesses()
    const request = { taskId: id, at: 'price', idempotencyKey: 'once' }
    interrupt(wakes, async () => {
      const { id: forkId } = await b.engine.fork(alice, request)
      await b.until(forkId, 'paused-by-agent')
    })
    const fork = await a.engine.fork(alice, request)
    await cluster.settled()
    expect(fork).toMatchObject({
      state: 'paused-by-agent',
      suspension: { reason: 'may it be shipped?' },
    })
    expect(await b.get(fork.id)).toMatchObject({ state: 'paused-by-agent' })
    expect(done.list).toEqual(['shipped, yes'])
  })

  it('F4: is answered as it is when a hold comes before it goes on', async () => {
    const { a, b, id, done, interrupt } = await twoProcesses()
    let holding: Promise<unknown> = Promise.resolve()
    interrupt(wakes, (forkId) => {
      holding = b.engine.hold(root, { scope: { tenant: 'acme' }, reason: 'stop' })
      return b.until(forkId, ({ holds }) => holds.length > 0)
    })
    const fork = await a.engine.fork(alice, { taskId: id, at: 'ship' })
    await holding
    expect(fork).toMatchObject({ state: 'paused-by-client', holds: [expect.any(String)] })
    expect(done.list).toEqual(['shipped, yes'])
  })
})
