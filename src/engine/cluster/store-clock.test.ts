import { expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createStoreClock } from './store-clock.ts'

const HOUR_MS = 3_600_000

/** A store clock that is surely ahead by so much. */
function exactly(ms: number) {
  return { least: ms, most: ms }
}

it.each([HOUR_MS, -HOUR_MS])(
  'SC1: neither the time nor a timer moves when the wall clock is set by %i ms',
  (ms) => {
    const local = createManualClock(0)
    const clock = createStoreClock(local)
    const fired: number[] = []
    clock.at(10_000, () => fired.push(clock.now()))
    local.stepWall(ms)
    expect(clock.now()).toBe(0)
    local.advance(9_999)
    expect(fired).toEqual([])
    local.advance(1)
    expect(fired).toEqual([10_000])
    expect(clock.wall()).toBe(10_000 + ms)
  },
)

it('SC2: a timer keeps its instant of the store when the offset changes, and fires once', () => {
  const local = createManualClock(0)
  const clock = createStoreClock(local)
  const fired: number[] = []
  clock.at(HOUR_MS + 10_000, () => fired.push(clock.now()))
  clock.setOffset(exactly(HOUR_MS))
  local.advance(9_999)
  expect(fired).toEqual([])
  clock.setOffset(exactly(HOUR_MS - 5))
  local.advance(5)
  expect(fired).toEqual([])
  local.advance(1)
  expect(fired).toEqual([HOUR_MS + 10_000])
  clock.setOffset(exactly(0))
  local.advance(2 * HOUR_MS)
  expect(fired).toEqual([HOUR_MS + 10_000])
})

it('SC2: a timer waits until the store has surely reached its instant, and the time is the middle of what is possible', () => {
  const local = createManualClock(0)
  const clock = createStoreClock(local)
  const fired: number[] = []
  clock.setOffset({ least: 1_000, most: 1_700 })
  clock.at(2_000, () => fired.push(local.elapsed()))
  expect(clock.now()).toBe(1_350)
  local.advance(999)
  expect(fired).toEqual([])
  local.advance(1)
  expect(fired).toEqual([1_000])
})

it('SC2: a timer for a part of a millisecond fires when `now` has reached it', () => {
  const local = createManualClock(0)
  const clock = createStoreClock(local)
  const fired: number[] = []
  clock.at(100.5, () => fired.push(clock.now()))
  local.advance(200)
  expect(fired).toEqual([101])
})

it('SC2: a canceled timer does not fire, also after the offset changed', () => {
  const local = createManualClock(0)
  const clock = createStoreClock(local)
  const fired: number[] = []
  const cancel = clock.at(10_000, () => fired.push(clock.now()))
  clock.setOffset(exactly(1_000))
  cancel()
  clock.setOffset(exactly(2_000))
  local.advance(HOUR_MS)
  expect(fired).toEqual([])
  expect(local.pending()).toBe(0)
})
