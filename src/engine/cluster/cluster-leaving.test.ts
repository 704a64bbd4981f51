/** What a process leaves when it stops in order, or dies while it finishes the work of another one. */
import { describe, expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import type { Store } from '../../ports/store.ts'
import { type ClusterHarness, createClusterHarness } from '../test-support/cluster-harness.ts'
import { type Harness, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }

/** Connections of which some calls can be changed, by the number of the process. */
function connections() {
  const changed: Partial<Store>[] = []
  let count = 0
  const connection = (store: Store): Store => {
    const mine = count++
    return new Proxy(store, {
      get: (target, name, receiver) =>
        Reflect.get(changed[mine] ?? {}, name) ?? Reflect.get(target, name, receiver),
    })
  }
  return { changed, connection }
}

const fails = async (): Promise<never> => {
  throw new LullError('STORE_UNAVAILABLE', { why: 'the connection was cut' })
}
const hangs = (): Promise<never> => new Promise(() => undefined)

/** A task of the first process that is about to park for an event that has come already. */
async function aboutToPark() {
  const go = signal()
  const agents = [
    running(async (task) => {
      await task.step('x', () => go.promise)
      await task.park({ reason: 'wait', onEvent: 'built' })
      return 'done'
    }),
  ]
  const { changed, connection } = connections()
  const cluster = createClusterHarness({ agents, connection })
  const a = await cluster.join()
  const b = await cluster.join()
  const { id } = await a.send('go')
  await cluster.settled()
  await b.emit('built')
  // The event counts as dispatched.
  await cluster.pass(2_000)
  return { cluster, changed, a, b, id, go }
}

async function stopInOrder(cluster: ClusterHarness, process: Harness): Promise<void> {
  const drained = process.engine.drain({ timeoutMs: 1_000 })
  await cluster.pass(5_000)
  await drained
  process.crash()
  await cluster.pass(2 * LEASE_MS)
}

describe('a process that stops in order', () => {
  it('C7: leaves the look for an earlier event to another one when it could not finish it', async () => {
    const { cluster, changed, a, b, id, go } = await aboutToPark()
    changed[0] = { events: fails }
    go.fire()
    await cluster.settled()
    expect((await b.get(id)).state).toBe('paused-by-agent')
    await stopInOrder(cluster, a)
    expect((await b.get(id)).state).toBe('completed')
    expect(await cluster.store.cluster?.workers()).toHaveLength(1)
  })

  it.each([
    ['was lifting', hangs],
    ['could not lift because the store was away', fails],
  ])('leaves the tasks of a hold that it %s to another one', async (_, openTasks) => {
    const { changed, connection } = connections()
    const agents = [running((task) => task.step('x', () => 'done'))]
    const cluster = createClusterHarness({ agents, connection })
    const a = await cluster.join()
    const b = await cluster.join()
    const placing = a.engine.hold(root, { scope: { all: true }, reason: 'stop', holdNew: true })
    await cluster.pass(1_000)
    const { holdId } = await placing
    const { id } = await b.send('go')
    await cluster.settled()
    changed[0] = { openTasks }
    a.engine.lift(root, holdId).catch(() => undefined)
    await cluster.settled()
    await stopInOrder(cluster, a)
    expect((await b.get(id)).state).toBe('completed')
    expect(await cluster.store.cluster?.workers()).toHaveLength(1)
  })
})

it('leaves the tasks of a hold that its rule was placing to another one', async () => {
  const { changed, connection } = connections()
  const work = signal()
  const spender = running(async (task) => {
    await task.usage({ inputTokens: 1 })
    await task.step('wait', () => work.promise)
    return 'done'
  })
  const cluster = createClusterHarness({ agents: [spender], connection })
  const a = await cluster.join()
  const b = await cluster.join()
  const scope = { tenant: 'acme' }
  const { budget } = await b.engine.setBudget(root, { scope, measure: 'tokens', limit: 100 })
  const adding = b.engine.addRule(root, {
    budget: { id: budget.id, percent: 2 },
    scope,
    reason: 'first tokens',
  })
  await cluster.pass(1_000)
  await adding
  const { id } = await b.send('go')
  await cluster.settled()
  changed[0] = { openTasks: hangs }
  await a.send('go')
  await cluster.settled()
  await stopInOrder(cluster, a)
  expect((await b.get(id)).holds).toHaveLength(1)
})

it('C7: what failed while a process finished the work of a dead one is finished after its own death', async () => {
  const { cluster, changed, a, b, id, go } = await aboutToPark()
  b.crash()
  changed[0] = { events: fails }
  go.fire()
  await cluster.settled()
  a.crash()
  // Long enough for the note of the next process to say that everything of that time is done.
  await cluster.pass(120_000)
  const c = await cluster.join()
  changed[2] = { events: fails }
  await cluster.pass(LEASE_MS / 3)
  c.crash()
  const d = await cluster.join()
  expect((await d.get(id)).state).toBe('paused-by-agent')
  await cluster.pass(2 * LEASE_MS)
  expect((await d.get(id)).state).toBe('completed')
})
