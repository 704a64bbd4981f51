import { expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryCluster } from '../../stores/memory/memory-cluster.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { running } from '../test-support/engine-harness.ts'
import { createCaretaking } from './caretaking.ts'

const LEASE_MS = 15_000

/** Two processes that look after a dead one. What it left takes `finishMs` to finish. */
async function twoAfterADeath(finishMs: number) {
  const clock = createManualClock()
  const shared = createMemoryCluster(clock.now)
  const counts = { finished: 0, recovered: 0 }
  const take = (worker: string) => {
    const { cluster } = shared.connect()
    if (cluster === undefined) throw new Error('the store is not shared')
    const caretaking = createCaretaking({
      ...{ cluster, clock, leaseMs: LEASE_MS, log: () => undefined },
      membership: {
        takeDuty: (name, ms) => cluster.takeDuty(name, worker, ms),
        holdsLease: () => true,
        renew: async () => true,
      },
      runs: { recover: async () => void counts.recovered++ },
      events: { retell: async () => undefined },
      isNeeded: async () => false,
      async finish() {
        counts.finished++
        await new Promise<void>((resolve) => clock.after(finishMs, resolve))
      },
    })
    caretaking.start()
    return { cluster, stop: caretaking.stop }
  }
  const [a, b] = [take('a'), take('b')]
  await a.cluster.registerWorker({ id: 'dead', agents: [] }, 1)
  const stop = (): void => {
    a.stop()
    b.stop()
  }
  return { clock, counts, workers: a.cluster.workers, stop }
}

async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    clock.advance(500)
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve))
  }
}

it('finishes what a dead process left once, however long that takes, and takes over meanwhile', async () => {
  const { clock, counts, workers, stop } = await twoAfterADeath(4 * LEASE_MS)
  await pass(clock, 3 * LEASE_MS)
  expect(counts).toEqual({ finished: 1, recovered: 18 })
  await pass(clock, 3 * LEASE_MS)
  expect(counts.finished).toBe(1)
  expect(await workers()).toEqual([])
  stop()
})

it('takes over tasks while the dispatch of an event takes long', async () => {
  let isSlow = false
  const connection = (store: Store): Store => ({
    ...store,
    async waiting(...query) {
      if (isSlow) await new Promise<void>((resolve) => cluster.clock.after(120_000, resolve))
      return store.waiting(...query)
    },
  })
  const cluster = createClusterHarness({ connection, options: { leaseMs: LEASE_MS } })
  const agents = [
    running(async (task) => {
      await task.step('work', () => (isSlow ? 1 : new Promise<number>(() => undefined)))
    }),
  ]
  const a = await cluster.join({ agents })
  const b = await cluster.join({ agents })
  const { id } = await a.send('go')
  await cluster.pass(1_000)
  isSlow = true
  b.emit('tick').catch(() => undefined)
  await cluster.pass(7_000)
  a.crash()
  await cluster.pass(LEASE_MS + LEASE_MS / 3 + 1_000)
  expect(await cluster.store.row('acme', id)).toMatchObject({ state: 'completed' })
})
