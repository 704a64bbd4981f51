import { expect, it } from 'vitest'
import { createSystemMemory, systemMemory } from './memory.ts'

it('tells how much memory the process uses', () => {
  expect(systemMemory.usedBytes()).toBeGreaterThan(1_000_000)
})

it('answers with the last value while no file descriptor is free', () => {
  const answers = [5_000]
  const { usedBytes } = createSystemMemory(() => {
    const [answer] = answers.splice(0, 1)
    if (answer !== undefined) return answer
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  })
  expect(usedBytes()).toBe(5_000)
  expect(usedBytes()).toBe(5_000)
  answers.push(6_000)
  expect(usedBytes()).toBe(6_000)
})
