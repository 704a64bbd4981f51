/**
 * A process whose event loop is held by agent code: C10 and C11 of cluster/membership.ts. A guard renews its lease from
 * outside, as the thread of a real store does; here the test says when.
 */
import { describe, expect, it } from 'vitest'
import type { GuardedLease, LoopGuard } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, effects, type Harness, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }

/** Processes whose leases the test can renew while they stand still. */
function guarded(agents: Parameters<typeof createClusterHarness>[0]) {
  const guards: { lease: GuardedLease | undefined; store: Store }[] = []
  const connection = (store: Store): Store => {
    const own: (typeof guards)[number] = { lease: undefined, store }
    guards.push(own)
    const loopGuard: LoopGuard = {
      guard(lease) {
        own.lease = lease
      },
      turned: () => undefined,
      running: () => undefined,
    }
    return store.cluster === undefined
      ? store
      : { ...store, cluster: { ...store.cluster, loopGuard } }
  }
  const cluster = createClusterHarness({ ...agents, connection })

  async function renew(process: Harness, blockedBy: string | null): Promise<void> {
    const one = guards.find(({ lease }) => lease?.workerId === process.engine.worker())
    if (one?.lease === undefined) throw new Error('the process has no lease')
    const { workerId, leaseMs, note } = one.lease
    await one.store.cluster?.heartbeat(workerId, leaseMs, { ...note, blockedBy })
  }

  return {
    cluster,
    /** The code of the task holds the loop of the process, and the guard renews the lease for so long. */
    async block(process: Harness, blockedBy: string | null, ms: number): Promise<void> {
      cluster.stop(process)
      for (let left = ms; left > 0; left -= LEASE_MS / 3) {
        await cluster.pass(LEASE_MS / 3)
        await renew(process, blockedBy)
      }
    },
  }
}

describe('a process whose event loop is held by agent code', () => {
  it('C10: loses nothing when its lease was renewed for it meanwhile', async () => {
    const done = effects()
    const release = signal()
    const { cluster, block } = guarded({
      agents: [
        running(async (task) => {
          await task.step('long', () => release.promise.then(() => done.note('long')))
          await task.step('next', () => done.note('next'))
        }),
      ],
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id, run } = await a.send('go')
    await cluster.settled()
    const worker = a.engine.worker()
    await block(a, id, 1.5 * LEASE_MS)
    release.fire()
    cluster.goOn(a)
    await cluster.pass(2 * LEASE_MS)
    expect(await b.get(id)).toMatchObject({ state: 'completed', deaths: 0 })
    expect(run?.worker).toBe(worker)
    expect(a.engine.worker()).toBe(worker)
    expect(done.list).toEqual(['long', 'next'])
  })

  it('C8, C10: begins no step of a task that was held meanwhile', async () => {
    const done = effects()
    const release = signal()
    const { cluster, block } = guarded({
      agents: [
        running(async (task) => {
          await release.promise
          await task.step('next', () => done.note('next'))
        }),
      ],
      hints: () => [],
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    cluster.stop(a)
    const holding = b.engine.hold(root, { scope: { all: true }, reason: 'stop' })
    await block(a, id, 1.5 * LEASE_MS)
    await holding
    release.fire()
    a.life.goOn()
    await cluster.settled()
    cluster.goOn(a)
    await cluster.pass(LEASE_MS)
    expect(done.list).toEqual([])
    expect((await b.get(id)).state).toBe('paused-by-client')
  })

  it('C11: is counted a death for that task alone, which is stopped by policy at the second one', async () => {
    const release = signal()
    const begun = effects()
    const { cluster, block } = guarded({
      agents: [
        running((task) => {
          begun.note(task.text)
          return task.step('x', () => release.promise)
        }),
      ],
    })
    const processes = [await cluster.join(), await cluster.join(), await cluster.join()]
    const ownerOf = async (taskId: string): Promise<Harness> => {
      const { run } = await (processes[0] as Harness).get(taskId)
      const owner = processes.find((one) => one.engine.worker() === run?.worker)
      if (owner === undefined) throw new Error('nobody runs the task')
      return owner
    }
    const second = processes[1] as Harness
    const { id } = await second.send('blocking')
    const { id: beside } = await second.send('beside')
    await cluster.settled()
    for (let death = 1; death <= 2; death++) {
      const owner = await ownerOf(id)
      await block(owner, id, LEASE_MS)
      await cluster.pass(2 * LEASE_MS)
      const [left] = processes.splice(processes.indexOf(owner), 1)
      left?.crash()
      const alive = processes[0] as Harness
      expect(await alive.get(beside)).toMatchObject({ state: 'working', deaths: 0 })
      if (death === 1) expect(await alive.get(id)).toMatchObject({ state: 'working', deaths: 1 })
    }
    const alive = processes[0] as Harness
    const { state, suspension } = await alive.get(id)
    expect({ state, suspension }).toMatchObject({
      state: 'paused-by-client',
      suspension: {
        reason: 'blocked-process',
        actor: { kind: 'policy', id: 'blocked-process' },
        summary: expect.stringContaining('worker thread'),
      },
    })
    expect(begun.count('blocking')).toBe(2)
    release.fire()
    await alive.engine.resume(alice, { taskId: id })
    await cluster.pass(LEASE_MS)
    for (const one of [id, beside]) expect((await alive.get(one)).state).toBe('completed')
  })

  it('counts the death for all of its tasks when nobody knows whose code it was', async () => {
    const { cluster, block } = guarded({
      agents: [running((task) => task.step('x', () => new Promise<string>(() => undefined)))],
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const sent = [await a.send('one'), await a.send('two')]
    await cluster.settled()
    await block(a, null, LEASE_MS)
    await cluster.pass(2 * LEASE_MS)
    a.crash()
    for (const { id } of sent) expect((await b.get(id)).deaths).toBe(1)
  })
})
