import { expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { creation } from '../../../testing/sample-task.ts'
import { countOpen } from './open-counts.ts'
import { createOpenWebhooks } from './open-webhooks.ts'

/** Half an hour after the beginning of a test. */
const SOON = createManualClock().now() + 1_800_000

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
async function openSome(some: Partial<Push>) {
  const clock = createManualClock()
  const store = createMemoryCluster(clock.now).connect()
  const url = 'https://example.com/'
  const owner = { tenant: 'acme', principal: 'ann' }
  for (let n = 0; n < 630; n++) {
    const taskId = `task-${n}`
    const idle = {
      id: 'w',
      url,
      taskId,
      owner,
      version: '1.0',
      createdAt: 1,
      sentSeq: 2,
      attempts: 0,
    }
    const pushes = [n < 600 ? idle : { ...idle, ...some }]
    await store.commit([creation(taskId, {}, { pushes })])
  }
  const begun: string[] = []
  /** Ends the deliveries that are under way. Those of tasks in `hanging` do not end. */
  const ends: (() => void)[] = []
  const hanging = new Set<string>()
  const webhooks = createOpenWebhooks({
    engine: { takeDuty: async () => true },
    store,
    listOpen: countOpen(store, clock).listOpen,
    clock,
    log: () => undefined,
    begin({ id: taskId }) {
      begun.push(taskId)
      return new Promise((resolve) => {
        if (!hanging.has(taskId)) ends.push(resolve)
      })
    },
  })
  /** @returns how many were under way at once, at most */
  async function finishAll(): Promise<number> {
    let most = 0
    for (let quiet = 0; quiet < 20; quiet++) {
      await turn()
      most = Math.max(most, ends.length)
      if (ends.length > 0) quiet = 0
      ends.shift()?.()
    }
    return most
  }
  /** @returns the tasks that the next sweep begins */
  async function sweep(): Promise<readonly string[]> {
    const before = begun.length
    clock.advance(10_000)
    await finishAll()
    return begun.slice(before)
  }
  return { webhooks, store, begun, hanging, finishAll, sweep }
}

it('the start begins every open webhook once, few at a time', async () => {
  const { webhooks, begun, finishAll } = await openSome({})
  await webhooks.start()
  expect(await finishAll()).toBe(8)
  expect(begun).toHaveLength(630)
  expect(new Set(begun).size).toBe(630)
  webhooks.stop()
})

it('a sweep begins the webhooks that have something due, and no others', async () => {
  const { webhooks, finishAll, sweep } = await openSome({ sentSeq: 1 })
  await webhooks.start()
  await finishAll()
  for (let n = 0; n < 2; n++) {
    const swept = await sweep()
    expect(swept).toHaveLength(30)
    expect(new Set(swept).size).toBe(30)
  }
  webhooks.stop()
})

it('a sweep begins no webhook before its retry', async () => {
  const { webhooks, finishAll, sweep } = await openSome({ sentSeq: 1, attempts: 12, retryAt: SOON })
  await webhooks.start()
  await finishAll()
  for (let n = 0; n < 3; n++) expect(await sweep()).toEqual([])
  webhooks.stop()
})

it('a sweep begins a webhook whose retry is later than any pause lasts: a wrong clock has written it', async () => {
  const { webhooks, finishAll, sweep } = await openSome({ sentSeq: 1, attempts: 2, retryAt: SOON })
  await webhooks.start()
  await finishAll()
  expect(await sweep()).toHaveLength(30)
  webhooks.stop()
})

it('a sweep begins a webhook whose task is gone', async () => {
  const { webhooks, store, finishAll, sweep } = await openSome({})
  await webhooks.start()
  await finishAll()
  const start = { createdAt: 1, sentSeq: 2, attempts: 0 }
  await store.putPush({
    id: 'w',
    url: 'https://example.com/',
    taskId: 'x',
    owner: { tenant: 'acme', principal: 'ann' },
    version: '1.0',
    ...start,
  })
  expect(await sweep()).toEqual(['x'])
  webhooks.stop()
})

it('a webhook that hangs stops no sweep, and is not begun again meanwhile', async () => {
  const { webhooks, begun, hanging, finishAll, sweep } = await openSome({ sentSeq: 1 })
  hanging.add('task-600')
  await webhooks.start()
  await finishAll()
  for (let n = 0; n < 2; n++) expect(await sweep()).toHaveLength(29)
  expect(begun.filter((taskId) => taskId === 'task-600')).toHaveLength(1)
  webhooks.stop()
})
