import { describe, expect, it } from 'vitest'
import { createSlots } from './slots.ts'

function setUp(limit = 1) {
  const freed: string[] = []
  const slots = createSlots(
    () => limit,
    (agent) => freed.push(agent),
  )
  return { freed, slots }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('slots', () => {
  it('S1: belong to a token, which takes one however often it asks', () => {
    const { slots } = setUp(2)
    expect([slots.take('a', '1'), slots.take('a', '1'), slots.take('a', '2')]).toEqual([
      true,
      true,
      true,
    ])
    expect(slots.take('a', '3')).toBe(false)
    expect([slots.used(), slots.available('a')]).toEqual([2, 0])
  })

  it('S2: go to the token that waits longest, also when another asks at that moment', async () => {
    const { slots, freed } = setUp()
    slots.take('a', 'first')
    const order: string[] = []
    for (const token of ['second', 'third', 'third']) {
      const got = (): unknown => order.push(token)
      slots.acquire('a', token).then(got, got)
    }
    slots.free('first')
    expect(slots.take('a', 'newcomer')).toBe(false)
    await turn()
    expect(order).toEqual(['second'])
    slots.free('second')
    expect(slots.take('a', 'newcomer')).toBe(false)
    await turn()
    expect(order).toEqual(['second', 'third', 'third'])
    expect(freed).toEqual([])
    slots.free('third')
    expect(freed).toEqual(['a'])
    expect(slots.take('a', 'newcomer')).toBe(true)
  })

  it('S3: freeing a token that waits ends its wait without a slot, and nobody loses one', async () => {
    const { slots } = setUp()
    slots.take('a', 'first')
    const over = slots.acquire('a', 'second')
    slots.free('second')
    await over
    expect(slots.has('second')).toBe(false)
    slots.free('first')
    slots.free('first')
    expect([slots.used(), slots.available('a')]).toEqual([0, 1])
  })
})
