import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSystemClock } from './clock.ts'

const DAY_MS = 86_400_000

describe('the system clock', () => {
  let clock = createSystemClock()
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
    clock = createSystemClock()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([1, 20, 24, 25, 30, 60, 400])(
    'K1: fires a delay of %i days once, and not before',
    (days) => {
      const fired = vi.fn()
      clock.after(days * DAY_MS, fired)
      vi.advanceTimersByTime(days * DAY_MS - 1)
      expect(fired).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1)
      vi.advanceTimersByTime(100 * DAY_MS)
      expect(fired).toHaveBeenCalledOnce()
    },
  )

  it('K1: does not fire a long delay that was called off in its second part', () => {
    const fired = vi.fn()
    const cancel = clock.after(60 * DAY_MS, fired)
    vi.advanceTimersByTime(30 * DAY_MS)
    cancel()
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(fired).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('K2: reaches an instant exactly when nobody sets the clock', () => {
    const fired = vi.fn()
    clock.at(Date.now() + 3_600_500, fired)
    vi.advanceTimersByTime(3_600_499)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledOnce()
  })

  it('K2: notices within seconds that the wall clock was set past an instant', () => {
    const fired = vi.fn()
    clock.at(Date.now() + DAY_MS, fired)
    vi.setSystemTime(Date.now() + 2 * DAY_MS)
    vi.advanceTimersByTime(5_000)
    expect(fired).toHaveBeenCalledOnce()
  })

  it('K2: does not fire early when the wall clock was set back', () => {
    const fired = vi.fn()
    clock.at(Date.now() + 60_000, fired)
    vi.setSystemTime(Date.now() - 60_000)
    vi.advanceTimersByTime(119_999)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledOnce()
  })
})
