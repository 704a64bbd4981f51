/** How often an event is dispatched on a shared store, when that takes long or fails. */
import { expect, it } from 'vitest'
import { RESERVED_MS } from '../../../ports/store/cluster.ts'
import type { Store } from '../../../ports/store.ts'
import { createClusterHarness } from '../../test-support/cluster-harness.ts'

const MINUTE = 60_000

/** Two processes. Each dispatch looks for waiting tasks once, by way of `look`. */
async function two(look: () => Promise<void>) {
  let looked = 0
  const connection = (store: Store): Store => ({
    ...store,
    async waiting(...query) {
      looked++
      await look()
      return store.waiting(...query)
    },
  })
  const cluster = createClusterHarness({ connection })
  const sender = await cluster.join()
  await cluster.join()
  const emit = (): void => void sender.emit('tick').catch(() => undefined)
  const { pass, store } = cluster
  const undispatched = async (): Promise<unknown> => store.cluster?.undispatchedEvents(9)
  return { emit, pass, looked: () => looked, undispatched }
}

it('C7: one process dispatches an event, however long that takes', async () => {
  let finish = (): void => undefined
  const dispatched = new Promise<void>((resolve) => (finish = resolve))
  const { emit, pass, looked, undispatched } = await two(() => dispatched)
  emit()
  await pass(MINUTE)
  expect(looked()).toBe(1)
  finish()
  await pass(RESERVED_MS + 1_000)
  expect(await undispatched()).toEqual([])
})

it('V2: an event whose dispatch fails is tried again, and no more often as time passes', async () => {
  let isDamaged = true
  const { emit, pass, looked, undispatched } = await two(async () => {
    if (isDamaged) throw new Error('a row is damaged')
  })
  emit()
  const tries: number[] = []
  for (let minute = 0; minute < 5; minute++) {
    const before = looked()
    await pass(MINUTE)
    tries.push(looked() - before)
  }
  expect(Math.min(...tries)).toBeGreaterThan(5)
  expect(Math.max(...tries)).toBeLessThanOrEqual(13)
  isDamaged = false
  await pass(MINUTE)
  expect(await undispatched()).toEqual([])
})
