import { expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { createWebhookDuty, TakenOver, type WebhookDuty } from './webhook-duty.ts'

const start: Push = {
  id: 'w',
  url: 'https://example.com/',
  taskId: 'task',
  owner: { tenant: 'acme', principal: 'ann' },
  version: '1.0',
  createdAt: 1,
  sentSeq: 0,
  attempts: 0,
}

/** Two processes that have read the same webhook. */
async function open(timeoutMs = 10_000) {
  const clock = createManualClock()
  const cluster = createMemoryCluster(clock.now)
  const store = cluster.connect()
  await store.putPush(start)
  const asked: [worker: string, forMs: number][] = []
  function join(worker: string): WebhookDuty {
    const takeDuty = async (name: string, forMs: number): Promise<boolean> => {
      asked.push([worker, forMs])
      return store.cluster?.takeDuty(name, worker, forMs) ?? false
    }
    return createWebhookDuty({ engine: { takeDuty }, store, clock, timeoutMs }, start, 'w')
  }
  return { clock, store, asked, a: join('a'), b: join('b') }
}

it('a process keeps a webhook while it delivers, however long that takes', async () => {
  const { clock, asked, a, b } = await open()
  for (let n = 0; n < 10; n++) {
    await a.confirm()
    clock.advance(9_000)
    await expect(b.confirm()).rejects.toThrow(TakenOver)
  }
  // Not before every request.
  const renewals = asked.filter(([worker]) => worker === 'a').length
  expect(renewals).toBeLessThanOrEqual(10)
  await a.giveBack()
  await b.confirm()
})

it('a request ends before another process can take the webhook, whatever its limit is', async () => {
  for (const timeoutMs of [10, 10_000, 60_000]) {
    const { clock, a, b } = await open(timeoutMs)
    await a.confirm()
    // The answer of the store is as old as it may be.
    for (let n = 0; n < 100; n++) {
      await a.confirm()
      clock.advance(timeoutMs / 100)
    }
    await a.confirm()
    clock.advance(timeoutMs)
    await expect(b.confirm()).rejects.toThrow(TakenOver)
  }
})

it('a process that stood still does not deliver what another one delivered', async () => {
  const { clock, a, b } = await open()
  await a.confirm()
  clock.advance(30_000)
  await b.confirm()
  await expect(a.confirm()).rejects.toThrow(TakenOver)
  await b.save({ ...start, sentSeq: 3 })
  await b.giveBack()
  // The duty is free, and the events were sent.
  await expect(a.confirm()).rejects.toThrow(TakenOver)
})

it('a process that waited long goes on when nobody else delivered', async () => {
  const { clock, a } = await open()
  await a.confirm()
  await a.save({ ...start, sentSeq: 3 })
  clock.advance(300_000)
  await a.confirm()
})

it('a late write takes nothing back that another process has delivered', async () => {
  const { clock, store, a, b } = await open()
  await a.confirm()
  clock.advance(30_000)
  await b.confirm()
  const done: Push = { ...start, sentSeq: 5, done: true }
  await b.save(done)
  await expect(a.save({ ...start, sentSeq: 2 })).rejects.toThrow(TakenOver)
  await expect(a.save({ ...start, attempts: 1, retryAt: 9 })).rejects.toThrow(TakenOver)
  expect(await store.pushes('acme', 'task')).toEqual([done])
})

it('a failure of the store is no failure of the receiver', async () => {
  const { store, clock } = await open()
  const cause = new Error('no connection')
  const takeDuty = () => Promise.reject(cause)
  const duty = createWebhookDuty({ engine: { takeDuty }, store, clock, timeoutMs: 1 }, start, 'w')
  await expect(duty.confirm()).rejects.toMatchObject({ name: 'TakenOver', cause })
})

it('a duty that was never taken is not given back', async () => {
  const { asked, a, b } = await open()
  await a.confirm()
  await expect(b.confirm()).rejects.toThrow(TakenOver)
  await b.giveBack()
  expect(asked).not.toContainEqual(['b', 0])
})
