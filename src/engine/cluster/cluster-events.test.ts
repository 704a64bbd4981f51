/** Events in several processes on one store: which of them a task counts (`events.ts`). */
import { describe, expect, it } from 'vitest'
import type { Task } from '../../core/task.ts'
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { createDelayingStore } from '../test-support/delaying-store.ts'
import { type Harness, running, signal } from '../test-support/engine-harness.ts'
import { createRandom } from '../test-support/simulation/random.ts'

const PARKS = 3
const HISTORIES = 20

/** Parks three times, and keeps the events that woke it. */
const collector = running(async (task) => {
  const seen: string[] = []
  for (let n = 0; n < PARKS; n++) {
    const { event } = await task.park({ reason: 'wait', onEvent: 'built' })
    seen.push(event !== undefined && 'id' in event ? event.id : 'none')
  }
  await task.artifact({ name: 'seen', data: seen })
  return 'done'
})

const seenBy = ({ artifacts }: Task): unknown =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('data' in part ? part.data : undefined)))[0]

/** Sends and events go to random processes and are not waited for, behind a store that answers late. */
async function history(seed: number): Promise<void> {
  const random = createRandom(seed)
  const connection = (store: Store): Store =>
    createDelayingStore(store, { seed: random.below(2 ** 31), turns: 4 })
  const cluster = createClusterHarness({ agents: [collector], connection, hints: () => [] })
  const processes = [await cluster.join(), await cluster.join()]
  const some = (): Harness => random.pick(processes) as Harness
  const acknowledged = new Set<string>()
  const sent: { id: string; before: readonly string[]; emitted: number }[] = []
  const open: Promise<unknown>[] = []
  let emitted = 0
  const emit = async (): Promise<void> => {
    const id = `e-${++emitted}`
    await some().emit('built', { id })
    acknowledged.add(id)
  }
  const send = async (): Promise<void> => {
    const before = [...acknowledged]
    const { id } = await some().send('go')
    sent.push({ id, before, emitted })
  }
  for (let act = 0; act < 16; act++) {
    open.push(random.chance(0.4) ? send() : emit())
    for (let turns = random.below(12); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(open)
  for (let n = 0; n < PARKS; n++) await emit()
  await cluster.pass(3_000)

  const events = await cluster.store.events('acme', 0, 999)
  const posOf = new Map(events.map(({ pos, event }) => [event.id, pos]))
  for (const { id, before, emitted: known } of sent) {
    const task = await some().get(id)
    for (const old of before) expect(posOf.get(old)).toBeLessThanOrEqual(task.eventsAfter)
    for (let n = known + 1; n <= emitted; n++) {
      expect(posOf.get(`e-${n}`)).toBeGreaterThan(task.eventsAfter)
    }
    const counted = events.filter(({ pos }) => pos > task.eventsAfter)
    expect(seenBy(task)).toEqual(counted.slice(0, PARKS).map(({ event }) => event.id))
  }
}

/** A server that loses every event when another one takes over, at a commit that the test names. */
function createFailover() {
  const lost: StoredEvent[] = []
  let phase: 'first server' | 'at the next commit' | 'second server' = 'first server'
  const isOver = (): boolean => phase === 'second server'
  return {
    takeOver: (when: 'at the next commit' | 'second server'): void => {
      phase = when
    },
    connection: (store: Store): Store => ({
      ...store,
      async appendEvents(tenant, events, receivedAt) {
        if (isOver()) return store.appendEvents(tenant, events, receivedAt)
        for (const event of events) lost.push({ pos: lost.length + 1, tenant, receivedAt, event })
        return events.map((_, index) => ({
          pos: lost.length - events.length + 1 + index,
          fresh: true,
        }))
      },
      events: async (...query) =>
        isOver() ? store.events(...query) : lost.filter(({ pos }) => pos > query[1]),
      eventPositions: async (tenants) =>
        isOver()
          ? store.eventPositions(tenants)
          : tenants.map(() => ({ last: lost.length, oldest: 1 })),
      async commit(batch) {
        if (phase === 'at the next commit') phase = 'second server'
        return store.commit(batch)
      },
    }),
  }
}

describe('events in several processes', () => {
  it('V1, V3: a task counts every event since its send, oldest first, each once, and none from before', async () => {
    for (let seed = 1; seed <= HISTORIES; seed++) await history(seed)
  })

  for (const when of ['second server', 'at the next commit'] as const) {
    it(`V5: a new task counts events that got the positions of lost ones (${when})`, async () => {
      const failover = createFailover()
      const cluster = createClusterHarness({ agents: [collector], connection: failover.connection })
      const a = await cluster.join()
      for (const id of ['l-1', 'l-2', 'l-3', 'l-4']) await a.emit('built', { id })
      failover.takeOver(when)
      const { id } = await a.send('go')
      await cluster.settled()
      for (const next of ['n-1', 'n-2', 'n-3']) await a.emit('built', { id: next })
      await cluster.settled()
      expect(seenBy(await a.get(id))).toEqual(['n-1', 'n-2', 'n-3'])
    })
  }

  it('V5: a task that a lost event was about to wake is woken by the event that gets its position', async () => {
    const failover = createFailover()
    const cluster = createClusterHarness({ agents: [collector], connection: failover.connection })
    const a = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    failover.takeOver('at the next commit')
    await a.emit('built', { id: 'l-1' })
    await cluster.settled()
    for (const next of ['n-1', 'n-2', 'n-3']) await a.emit('built', { id: next })
    await cluster.settled()
    expect(seenBy(await a.get(id))).toEqual(['n-1', 'n-2', 'n-3'])
  })

  it('V5: a park that counts events from now on is written once after events were lost', async () => {
    const failover = createFailover()
    const go = signal()
    const fromNow = running(async (task) => {
      await go.promise
      const { event } = await task.park({ reason: 'wait', onEvent: 'built', since: 'now' })
      await task.artifact({ name: 'seen', data: event && 'id' in event ? event.id : 'none' })
    })
    let refused = 0
    const connection = (store: Store): Store => {
      const server = failover.connection(store)
      return {
        ...server,
        async commit(batch) {
          const parks = batch.some(({ records }) => records.some(({ type }) => type === 'parked'))
          if (parks) failover.takeOver('second server')
          const results = await server.commit(batch)
          refused += results.filter(({ status }) => status === 'outdated').length
          if (refused > 9) throw new Error('the same commit is refused again and again')
          return results
        },
      }
    }
    const cluster = createClusterHarness({ agents: [fromNow], connection })
    const a = await cluster.join()
    const { id } = await a.send('go')
    for (const old of ['l-1', 'l-2', 'l-3', 'l-4']) await a.emit('built', { id: old })
    go.fire()
    await cluster.settled()
    expect(refused).toBe(1)
    await a.emit('built', { id: 'n-1' })
    await cluster.settled()
    expect(seenBy(await a.get(id))).toBe('n-1')
  })
})
