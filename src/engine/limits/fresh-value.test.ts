import { expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createFreshValue } from './quotas.ts'

async function counted() {
  const clock = createManualClock()
  let reads = 0
  const value = createFreshValue(clock, 1_000, async () => ++reads)
  await value.get()
  return { clock, value }
}

it('is read again after a second, also when the wall clock was set back by an hour', async () => {
  const { clock, value } = await counted()
  clock.stepWall(-3_600_000)
  clock.advance(1_001)
  expect(value.get()).toBe(1)
  await expect.poll(() => value.get()).toBe(2)
})

it('is not used when it is much older than a second: the caller waits for the next one', async () => {
  const { clock, value } = await counted()
  clock.advance(10_001)
  expect(await value.get()).toBe(2)
})
