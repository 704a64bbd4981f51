import { expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { countOpen } from './open-counts.ts'

const ann = { tenant: 'acme', principal: 'ann' }
const bob = { tenant: 'acme', principal: 'bob' }

const push = (id: string, some: Partial<Push> = {}): Push => ({
  taskId: 'task',
  id,
  owner: ann,
  url: 'https://example.com/',
  version: '1.0',
  createdAt: 1,
  sentSeq: 0,
  attempts: 0,
  ...some,
})

it('counts each open webhook once, for its principal and for its tenant', async () => {
  const { store, of } = countOpen(createMemoryStore(), createManualClock())
  await store.putPush(push('a'))
  await store.putPush(push('a', { sentSeq: 7 }))
  await store.putPush(push('b', { owner: bob }))
  await store.pushes('acme', 'task')
  expect(of(ann)).toEqual({ principal: 1, tenant: 2 })
  expect(of(bob)).toEqual({ principal: 1, tenant: 2 })
  expect(of({ tenant: 'other', principal: 'ann' })).toEqual({ principal: 0, tenant: 0 })
})

it('counts no webhook that is done, given up or deleted, and again one that is set again', async () => {
  const { store, of } = countOpen(createMemoryStore(), createManualClock())
  for (const id of ['a', 'b', 'c', 'd']) await store.putPush(push(id))
  await store.putPush(push('a', { done: true }))
  await store.putPush(push('b', { failedAt: 1 }))
  await store.deletePush('acme', 'task', 'c')
  await store.deletePush('acme', 'task', 'c')
  expect(of(ann)).toEqual({ principal: 1, tenant: 1 })
  await store.putPush(push('b'))
  expect(of(ann)).toEqual({ principal: 2, tenant: 2 })
})

it('counts webhooks that earlier processes left', async () => {
  const inner = createMemoryStore()
  await inner.putPush(push('a'))
  const { listOpen, of } = countOpen(inner, createManualClock())
  expect(of(ann)).toEqual({ principal: 0, tenant: 0 })
  for await (const { owner } of listOpen()) expect(owner).toEqual(ann)
  expect(of(ann)).toEqual({ principal: 1, tenant: 1 })
})

/** Two processes on one store. Both count the webhooks `a` and `b`, and the second one finishes and deletes them. */
async function createLeft() {
  const clock = createManualClock()
  const cluster = createMemoryCluster(clock.now)
  const [first, second] = [countOpen(cluster.connect(), clock), countOpen(cluster.connect(), clock)]
  for (const id of ['a', 'b']) await second.store.putPush(push(id))
  await first.recount()
  expect(first.of(ann)).toEqual({ principal: 2, tenant: 2 })
  await second.store.putPush(push('a', { done: true }))
  await second.store.deletePush('acme', 'task', 'b')
  return { clock, first, second }
}

it('does not go on counting webhooks that another process finished or deleted, once their task is read', async () => {
  const { first } = await createLeft()
  await first.store.pushes('acme', 'task')
  expect(first.of(ann)).toEqual({ principal: 0, tenant: 0 })
})

it('does not go on counting webhooks that another process finished or deleted, after a listing', async () => {
  const { clock, first, second } = await createLeft()
  await second.store.putPush(push('c', { taskId: 'other' }))
  clock.advance(10_000)
  await first.recount()
  expect(first.of(ann)).toEqual({ principal: 1, tenant: 1 })
})

it('goes on counting a webhook that is added while its task is read, and while all are listed', async () => {
  const { store, of, recount } = countOpen(createMemoryStore(), createManualClock())
  await Promise.all([recount(), store.pushes('acme', 'task'), store.putPush(push('a'))])
  expect(of(ann)).toEqual({ principal: 1, tenant: 1 })
})
