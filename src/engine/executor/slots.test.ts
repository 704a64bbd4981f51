import { describe, expect, it } from 'vitest'
import { createSlots } from './slots.ts'

function setUp(limit = 1, tenantShare = 1) {
  const freed: string[] = []
  const slots = createSlots({
    limitOf: () => limit,
    tenantShare,
    freed: (agent) => freed.push(agent),
  })
  return { freed, slots }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('slots', () => {
  it('S1: belong to a token, which takes one however often it asks', () => {
    const { slots } = setUp(2)
    expect([
      slots.take('a', '1', 'acme'),
      slots.take('a', '1', 'acme'),
      slots.take('a', '2', 'acme'),
    ]).toEqual([true, true, true])
    expect(slots.take('a', '3', 'acme')).toBe(false)
    expect([slots.used(), slots.available('a')]).toEqual([2, 0])
  })

  it('S2: go to the token that waits longest, also when another asks at that moment', async () => {
    const { slots, freed } = setUp()
    slots.take('a', 'first', 'acme')
    const order: string[] = []
    for (const token of ['second', 'third', 'third']) {
      const got = (): unknown => order.push(token)
      slots.acquire('a', token, 'acme').then(got, got)
    }
    slots.free('first')
    expect(slots.take('a', 'newcomer', 'acme')).toBe(false)
    await turn()
    expect(order).toEqual(['second'])
    slots.free('second')
    expect(slots.take('a', 'newcomer', 'acme')).toBe(false)
    await turn()
    expect(order).toEqual(['second', 'third', 'third'])
    expect(freed).toEqual([])
    slots.free('third')
    expect(freed).toEqual(['a'])
    expect(slots.take('a', 'newcomer', 'acme')).toBe(true)
  })

  it('S3: freeing a token that waits ends its wait without a slot, and nobody loses one', async () => {
    const { slots } = setUp()
    slots.take('a', 'first', 'acme')
    const over = slots.acquire('a', 'second', 'acme')
    slots.free('second')
    await over
    expect(slots.has('second')).toBe(false)
    slots.free('first')
    slots.free('first')
    expect([slots.used(), slots.available('a')]).toEqual([0, 1])
  })

  it('S4: stay free for other tenants, however many one tenant asks for', () => {
    const { slots } = setUp(64, 0.75)
    const takeAll = (tenant: string): number => {
      let taken = 0
      while (slots.take('a', `${tenant}-${taken}`, tenant)) taken++
      return taken
    }
    expect([takeAll('one'), takeAll('two'), takeAll('three')]).toEqual([48, 12, 3])
    expect(slots.fullTenants('a')).toEqual(['one', 'two', 'three'])
    expect([takeAll('four'), slots.available('a')]).toEqual([1, 0])
    slots.free('one-0')
    expect(slots.fullTenants('a')).toEqual(['one', 'two', 'three'])
    expect(takeAll('five')).toBe(1)
  })

  it('S4: are counted as startable only where every tenant but the full ones may take them', () => {
    const { slots } = setUp(8, 0.75)
    expect(slots.startable('a')).toBe(6)
    for (let n = 0; n < 5; n++) slots.take('a', `one-${n}`, 'one')
    expect([slots.available('a'), slots.startable('a')]).toEqual([3, 1])
    slots.take('a', 'one-5', 'one')
    expect([slots.fullTenants('a'), slots.startable('a')]).toEqual([['one'], 2])
    for (const tenant of ['two', 'three']) slots.take('a', tenant, tenant)
    expect(slots.startable('a')).toBe(0)
  })

  it('S4: a run that goes on gets a free slot, whatever its tenant has', async () => {
    const { slots } = setUp(4, 0.5)
    for (const token of ['1', '2']) slots.take('a', token, 'one')
    expect(slots.take('a', '3', 'one')).toBe(false)
    await slots.acquire('a', '3', 'one')
    expect(slots.has('3')).toBe(true)
    for (const token of ['1', '2', '3']) slots.free(token)
    expect([slots.used(), slots.available('a')]).toEqual([0, 4])
    expect(slots.fullTenants('a')).toEqual([])
  })
})
