import { expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
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
  const { store, of } = countOpen(createMemoryStore())
  await store.putPush(push('a'))
  await store.putPush(push('a', { sentSeq: 7 }))
  await store.putPush(push('b', { owner: bob }))
  await store.pushes('task')
  expect(of(ann)).toEqual({ principal: 1, tenant: 2 })
  expect(of(bob)).toEqual({ principal: 1, tenant: 2 })
  expect(of({ tenant: 'other', principal: 'ann' })).toEqual({ principal: 0, tenant: 0 })
})

it('counts no webhook that is done, given up or deleted, and again one that is set again', async () => {
  const { store, of } = countOpen(createMemoryStore())
  for (const id of ['a', 'b', 'c', 'd']) await store.putPush(push(id))
  await store.putPush(push('a', { done: true }))
  await store.putPush(push('b', { failedAt: 1 }))
  await store.deletePush('task', 'c')
  await store.deletePush('task', 'c')
  expect(of(ann)).toEqual({ principal: 1, tenant: 1 })
  await store.putPush(push('b'))
  expect(of(ann)).toEqual({ principal: 2, tenant: 2 })
})

it('counts webhooks that earlier processes left, and those that came with a message', async () => {
  const inner = createMemoryStore()
  await inner.putPush(push('a'))
  const { owner: _, ...older } = push('b')
  await inner.putPush(older)
  const { store, of } = countOpen(inner)
  expect(of(ann)).toEqual({ principal: 0, tenant: 0 })
  await store.listPushes('open', undefined, 9)
  expect(of(ann)).toEqual({ principal: 1, tenant: 1 })
})
