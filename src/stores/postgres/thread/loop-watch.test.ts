import { expect, it } from 'vitest'
import { createLoopMemory } from './loop-memory.ts'
import { createLoopWatch } from './loop-watch.ts'

const lease = { leaseMs: 15_000, blockedAfterMs: 30_000 }

it('renews nothing while the loop turns', () => {
  const isDue = createLoopWatch()
  for (let now = 0; now < 60_000; now += 1_000) {
    expect(isDue({ ...lease, now, turns: now })).toBe(false)
  }
})

it('renews every third of the lease while the loop stands still, and not after blockedAfterMs', () => {
  const isDue = createLoopWatch()
  const renewed: number[] = []
  for (let now = 0; now < 90_000; now += 1_000) {
    if (isDue({ ...lease, now, turns: 7 })) renewed.push(now)
  }
  expect(renewed).toEqual([5_000, 10_000, 15_000, 20_000, 25_000])
})

it('begins to count again when the loop has turned', () => {
  const isDue = createLoopWatch()
  const renewed: number[] = []
  for (let now = 0; now < 90_000; now += 1_000) {
    if (isDue({ ...lease, now, turns: now < 28_000 ? 7 : 8 })) renewed.push(now)
  }
  expect(renewed.at(-1)).toBe(53_000)
  expect(renewed).toContain(33_000)
})

it('tells the task whose code holds the loop, and otherwise the only one that may', () => {
  const loop = createLoopMemory()
  const thread = createLoopMemory(loop.memory)
  expect(thread.blockedBy()).toBeUndefined()
  loop.write('suspect', 'task-with-a-long-name')
  expect(thread.blockedBy()).toBe('task-with-a-long-name')
  loop.write('running', 'task-1')
  expect(thread.blockedBy()).toBe('task-1')
  loop.write('running', undefined)
  loop.write('suspect', 'x'.repeat(1_000))
  expect(thread.blockedBy()).toBeUndefined()
  loop.turn()
  expect(thread.turns()).toBe(1)
})
