import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Clock } from '../../ports/clock.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createSystemClock } from './clock.ts'

const HOUR_MS = 3_600_000
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
    clock.at(clock.now() + 3_600_500, fired)
    vi.advanceTimersByTime(3_600_499)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledOnce()
  })
})

it('starts where the system does not tell the uptime, and counts elapsed time there', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
  onTestFinished(() => void vi.useRealTimers())
  const uptime = (): number => {
    throw new Error('A system error occurred: uv_uptime returned EPERM')
  }
  const clock = createSystemClock({ wall: Date.now, uptime })
  const start = clock.now()
  vi.advanceTimersByTime(120_000)
  expect(clock.now()).toBe(start + 120_000)
})

interface Subject {
  readonly clock: Clock
  pass(ms: number): void
  /** Sets the wall clock alone. */
  stepWall(ms: number): void
  /** The wall clock and the uptime go on; elapsed time does not. */
  sleep(ms: number): void
}

/** The system clock on a machine whose wall clock, uptime and elapsed time are moved apart. */
function system(): Subject {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
  let [stepped, slept] = [0, 0]
  return {
    clock: createSystemClock({
      wall: () => Date.now() + stepped + slept,
      // Some systems count whole seconds.
      uptime: () => Math.floor((performance.now() + slept) / 1_000) * 1_000,
    }),
    pass: (ms) => void vi.advanceTimersByTime(ms),
    stepWall(ms) {
      stepped += ms
    },
    sleep(ms) {
      slept += ms
    },
  }
}

function manual(): Subject {
  const clock = createManualClock()
  return { clock, pass: clock.advance, stepWall: clock.stepWall, sleep: clock.sleep }
}

/** Every clock of this program. */
describe.each([
  ['system', system],
  ['manual', manual],
] as const)('the %s clock', (_, create) => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([HOUR_MS, -HOUR_MS, 1, -1_500])(
    'CL2: makes nothing due, and stops nothing, when the wall clock alone is set by %i ms',
    (ms) => {
      const { clock, pass, stepWall } = create()
      const [start, wall] = [clock.now(), clock.wall()]
      const fired = vi.fn()
      clock.at(start + 100_000, fired)
      pass(10_000)
      stepWall(ms)
      expect(clock.now()).toBe(start + 10_000)
      expect(clock.wall()).toBe(wall + 10_000 + ms)
      pass(4_000)
      stepWall(-ms)
      pass(85_999)
      expect(fired).not.toHaveBeenCalled()
      pass(1)
      expect(fired).toHaveBeenCalledOnce()
      expect(clock.now()).toBe(start + 100_000)
    },
  )

  it('CL3: makes due within seconds what came due while the machine slept', () => {
    const { clock, pass, sleep } = create()
    const [start, begun] = [clock.now(), clock.elapsed()]
    const fired = vi.fn()
    clock.at(start + HOUR_MS, fired)
    clock.after(HOUR_MS, fired)
    pass(10_000)
    sleep(2 * HOUR_MS)
    expect(clock.elapsed()).toBe(begun + 10_000)
    pass(2_000)
    expect(fired).toHaveBeenCalledOnce()
    expect(Math.abs(clock.now() - start - 2 * HOUR_MS - 12_000)).toBeLessThanOrEqual(1_000)
  })

  it('CL3, K3: counts a sleep once, and only the sleep, when the wall clock is set in it', () => {
    const { clock, pass, stepWall, sleep } = create()
    const start = clock.now()
    sleep(HOUR_MS)
    stepWall(5 * HOUR_MS)
    pass(120_000)
    stepWall(-6 * HOUR_MS)
    pass(120_000)
    expect(Math.abs(clock.now() - start - HOUR_MS - 240_000)).toBeLessThanOrEqual(1_000)
  })

  it('CL3: notices a sleep that the wall clock does not show, because it was set back meanwhile', () => {
    const { clock, pass, stepWall, sleep } = create()
    const fired = vi.fn()
    clock.at(clock.now() + HOUR_MS, fired)
    sleep(HOUR_MS)
    stepWall(-HOUR_MS)
    pass(70_000)
    expect(fired).toHaveBeenCalledOnce()
  })
})
