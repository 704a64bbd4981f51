import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { describeStoreContract } from '../../testing/store-contract.ts'
import { createDelayingStore } from './delaying-store.ts'

describeStoreContract(vitest, 'the delaying store', async () => {
  const inner = createMemoryStore()
  const delayed = () => createDelayingStore(inner, { seed: 7, turns: 5 })
  return { store: delayed(), reopen: async () => delayed(), cleanup: () => inner.close() }
})

describe('a store that delays its answers', () => {
  const store = (seed: number) => createDelayingStore(createMemoryStore(), { seed, turns: 5 })

  async function answers(seed: number): Promise<readonly string[]> {
    const slow = store(seed)
    const order: string[] = []
    const calls = Array.from({ length: 20 }, (_, n) => [
      slow.setValue('fact', n).then(() => order.push(`write ${n}`)),
      slow.getValue('fact').then((value) => order.push(`read ${n}: ${value}`)),
    ])
    await Promise.all(calls.flat())
    return [...order, `at last ${await slow.getValue('fact')}`]
  }

  it('D1: lets answers of writes overtake each other, while the writes act in order', async () => {
    const order = await answers(1)
    const writes = order.filter((one) => one.startsWith('write'))
    expect(writes).not.toEqual(Array.from({ length: 20 }, (_, n) => `write ${n}`))
    expect(order.at(-1)).toBe('at last 19')
  })

  it('D2: lets a read see what was there before, between and after the writes around it', async () => {
    const seen = (await answers(1)).filter((one) => one.startsWith('read'))
    expect(new Set(seen.map((one) => one.split(': ')[1])).size).toBeGreaterThan(2)
  })

  it('D3: shows a write that has answered to every read that is called afterwards', async () => {
    const slow = store(3)
    for (let n = 0; n < 50; n++) {
      await slow.setValue('fact', n)
      expect(await slow.getValue('fact')).toBe(n)
    }
  })

  it('D4: delays the same calls in the same way for the same seed', async () => {
    expect(await answers(4)).toEqual(await answers(4))
    expect(await answers(4)).not.toEqual(await answers(5))
  })
})
