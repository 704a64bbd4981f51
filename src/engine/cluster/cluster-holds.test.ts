/** C8 of `cluster/membership.ts`: a hold is complete in every process when it is answered. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { effects, type Harness, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }
/** Every report is lost. */
const deaf = (): readonly number[] => []

/** A task of the first process that starts the step "two" when the test says so. The second process places holds. */
async function between(hints?: () => readonly number[]) {
  const done = effects()
  const go = signal()
  const agents = [
    running(async (task) => {
      await task.step('one', () => done.note('one'))
      await go.promise
      await task.step('two', () => done.note('two'))
    }),
  ]
  const cluster = createClusterHarness({ agents, ...(hints === undefined ? {} : { hints }) })
  const a = await cluster.join()
  const b = await cluster.join()
  const { id } = await a.send('go')
  await cluster.settled()
  return { cluster, a, b, id, done, go }
}

function holdAll(process: Harness) {
  let answered = false
  const holding = process.engine.hold(root, { scope: { all: true }, reason: 'stop' }).then(() => {
    answered = true
  })
  return { holding, answered: () => answered }
}

describe('a hold of tasks that run in another process', () => {
  it('C8: is answered after that process has read it, and no step begins afterwards', async () => {
    const { cluster, a, b, id, done, go } = await between()
    const { holding } = holdAll(b)
    await holding
    go.fire()
    await cluster.pass(2_000)
    expect(done.list).toEqual(['one'])
    expect((await a.get(id)).state).toBe('paused-by-client')
  })

  it('C8: waits for a start of that process that is written and not answered yet', async () => {
    const done = effects()
    const answer = signal()
    let isLate = false
    let connections = 0
    const agents = [running((task) => task.step('one', () => done.note('one')))]
    const late = (store: Store): Store => ({
      ...store,
      async commit(batch) {
        const results = await store.commit(batch)
        if (isLate) await answer.promise
        return results
      },
    })
    const connection = (store: Store): Store => (++connections === 1 ? late(store) : store)
    const cluster = createClusterHarness({ agents, connection })
    const a = await cluster.join()
    const b = await cluster.join()
    isLate = true
    const sending = a.send('go')
    await cluster.settled()
    const { holding, answered } = holdAll(b)
    await cluster.settled()
    expect(answered()).toBe(false)
    answer.fire()
    await holding
    const before = [...done.list]
    const { id } = await sending
    await cluster.pass(2_000)
    expect(done.list).toEqual(before)
    expect((await b.get(id)).state).toBe('paused-by-client')
  })

  it('C8: waits for that process when every report is lost', async () => {
    const { cluster, b, done, go } = await between(deaf)
    const { holding, answered } = holdAll(b)
    await cluster.settled()
    expect(answered()).toBe(false)
    await cluster.pass(LEASE_MS / 3 + 1_000)
    await holding
    go.fire()
    await cluster.pass(2_000)
    expect(done.list).toEqual(['one'])
  })

  it('C8: waits for a process that stands still until its lease has run out', async () => {
    const { cluster, a, b, done, go } = await between()
    cluster.stop(a)
    const { holding, answered } = holdAll(b)
    await cluster.pass(LEASE_MS / 2)
    expect(answered()).toBe(false)
    await cluster.pass(LEASE_MS)
    await holding
    cluster.goOn(a)
    go.fire()
    await cluster.pass(2_000)
    expect(done.list).toEqual(['one'])
  })
})
