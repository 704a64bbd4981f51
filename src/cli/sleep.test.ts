import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { sleep } from './sleep.ts'

it('leaves no listener behind, however often one signal is used', async () => {
  const { signal } = new AbortController()
  for (let i = 0; i < 12; i++) await sleep(0, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('ends at once when the signal fires, or has fired', async () => {
  const left = new AbortController()
  const sleeping = sleep(1_000_000, left.signal)
  left.abort()
  await sleeping
  await sleep(1_000_000, left.signal)
})
