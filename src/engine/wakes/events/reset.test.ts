import { expect, it } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { noTracing } from '../../../ports/tracing.ts'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { signal } from '../../test-support/engine-harness.ts'
import { createEvents } from '../events.ts'

/** Two processes on one store. The first answer about the newest position is held up on its way to the first one. */
function createOvertaken() {
  const clock = createManualClock(0)
  const cluster = createMemoryCluster(clock.now)
  const [read, go] = [signal(), signal()]
  const own = cluster.connect()
  let asked = 0
  const store: Store = {
    ...own,
    async eventPositions(tenants) {
      const pos = await own.eventPositions(tenants)
      if (++asked > 1) return pos
      read.fire()
      await go.promise
      return pos
    },
  }
  const events = createEvents({
    store,
    places: { learn: () => undefined },
    ledger: { read: async () => undefined },
    clock,
    log: () => undefined,
    tracing: noTracing,
    wake: async () => 'not taken',
  })
  return { events, other: cluster.connect(), read, go }
}

it('V5: an overtaken answer of the store takes back no event that this process knows', async () => {
  const { events, other, read, go } = createOvertaken()
  const reset = events.reset('acme')
  await read.promise
  await other.appendEvents('acme', [{ id: 'e-1', source: 's', type: 'built' }], 0)
  await events.refresh('acme')
  go.fire()
  await reset
  expect(events.lastPos('acme')).toBe(1)
})
