import { expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { whileRenewing } from './while-renewing.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('ends after a renewal that is under way, so that the caller can give back what it has', async () => {
  const clock = createManualClock()
  const acts: string[] = []
  let answer = (): void => undefined
  let finish = (): void => undefined
  const renew = async (): Promise<void> => {
    await new Promise<void>((resolve) => (answer = resolve))
    acts.push('renewed')
  }
  const work = (): Promise<void> => new Promise((resolve) => (finish = resolve))
  const done = whileRenewing(clock, 1_000, renew, work).then(() => acts.push('given back'))
  clock.advance(1_000)
  finish()
  await settled()
  expect(acts).toEqual([])
  answer()
  await done
  clock.advance(5_000)
  await settled()
  expect(acts).toEqual(['renewed', 'given back'])
})

it('goes on renewing after a renewal has failed', async () => {
  const clock = createManualClock()
  let renewals = 0
  let finish = (): void => undefined
  const renew = async (): Promise<void> => {
    renewals++
    throw new Error('the store is away')
  }
  const done = whileRenewing(clock, 1_000, renew, () => new Promise<void>((end) => (finish = end)))
  for (let second = 0; second < 3; second++) {
    clock.advance(1_000)
    await settled()
  }
  finish()
  await done
  expect(renewals).toBe(3)
})
