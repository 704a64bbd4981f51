import { expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createStoreClock } from './store-clock.ts'

const HOUR_MS = 3_600_000

it('C9: a timer that is set keeps its instant of the store when the local clock is set', () => {
  const local = createManualClock(0)
  const clock = createStoreClock(local)
  const fired: number[] = []
  clock.at(10_000, () => fired.push(clock.now()))
  local.jump(-HOUR_MS)
  clock.setOffset(HOUR_MS)
  local.advance(9_999)
  expect(fired).toEqual([])
  local.advance(1)
  expect(fired).toEqual([10_000])
  clock.setOffset(HOUR_MS + 5)
  local.advance(2 * HOUR_MS)
  expect(fired).toEqual([10_000])
})

it('C9: a canceled timer does not fire, also after the local clock was set', () => {
  const local = createManualClock(0)
  const clock = createStoreClock(local)
  const fired: number[] = []
  const cancel = clock.at(10_000, () => fired.push(clock.now()))
  clock.setOffset(1_000)
  cancel()
  clock.setOffset(2_000)
  local.advance(HOUR_MS)
  expect(fired).toEqual([])
  expect(local.pending()).toBe(0)
})
