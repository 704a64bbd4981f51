import { expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { creation } from '../../../testing/sample-task.ts'
import { countOpen } from './open-counts.ts'
import { createOpenWebhooks } from './open-webhooks.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('the sweep of open webhooks does not go on when it was stopped while it read', async () => {
  const clock = createManualClock()
  const answers: ((mine: boolean) => void)[] = []
  const store = createMemoryCluster(clock.now).connect()
  const webhooks = createOpenWebhooks({
    engine: { takeDuty: () => new Promise<boolean>((resolve) => answers.push(resolve)) },
    store,
    listOpen: countOpen(store, clock).listOpen,
    clock,
    log: () => undefined,
    begin: async () => undefined,
  })
  await webhooks.start()
  await turn()
  clock.advance(10_000)
  expect(answers).toHaveLength(1)
  webhooks.stop()
  answers[0]?.(false)
  await turn()
  clock.advance(10_000)
  expect(answers).toHaveLength(1)
})

/** 600 tasks at version 2, which have nothing due, and 30 more with what `some` says. */
async function sweepOf(some: Partial<Push>) {
  const clock = createManualClock()
  const store = createMemoryCluster(clock.now).connect()
  const url = 'https://example.com/'
  for (let n = 0; n < 630; n++) {
    const taskId = `task-${n}`
    const idle = { id: 'w', url, taskId, version: '1.0', createdAt: 1, sentSeq: 2, attempts: 0 }
    const pushes = [n < 600 ? idle : { ...idle, ...some }]
    await store.commit([creation(taskId, {}, { pushes })])
  }
  const begun: string[] = []
  const ends: (() => void)[] = []
  const webhooks = createOpenWebhooks({
    engine: { takeDuty: async () => true },
    store,
    listOpen: countOpen(store, clock).listOpen,
    clock,
    log: () => undefined,
    begin(taskId) {
      begun.push(taskId)
      return new Promise((resolve) => ends.push(resolve))
    },
  })
  return { clock, webhooks, begun, ends }
}

it('webhooks that have nothing due are not begun, neither at the start nor by the sweep', async () => {
  const { clock, webhooks, begun } = await sweepOf({ sentSeq: 1, retryAt: Number.MAX_SAFE_INTEGER })
  await webhooks.start()
  for (let n = 0; n < 3; n++) {
    for (let turns = 0; turns < 20; turns++) await turn()
    clock.advance(10_000)
  }
  expect(begun).toEqual([])
  webhooks.stop()
})

it('few webhooks are begun at once, and all that have something due', async () => {
  const { clock, webhooks, begun, ends } = await sweepOf({ sentSeq: 1 })
  await webhooks.start()
  let most = 0
  for (let n = 0; n < 200; n++) {
    await turn()
    most = Math.max(most, ends.length)
    ends.shift()?.()
  }
  expect(most).toBe(8)
  expect(new Set(begun).size).toBe(30)
  expect(begun).toHaveLength(30)
  clock.advance(10_000)
  await expect.poll(() => begun.length).toBeGreaterThan(30)
  webhooks.stop()
})
