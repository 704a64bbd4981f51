import type { CancelTimer, Clock } from '../ports/clock.ts'

export interface ManualClock extends Clock {
  /** Advances the time and runs the timers that become due, in order. */
  advance(ms: number): void
  /**
   * Sets the wall clock, forwards or backwards, as an operator could. Nothing else changes, and no
   * timer fires.
   */
  stepWall(ms: number): void
  /**
   * Simulates a sleep of the machine: no time passes for `after` and `elapsed`. Then timers of `at`
   * fire whose instant was reached.
   */
  sleep(ms: number): void
  /** The time until the next timer fires. Undefined if there is no timer. */
  readonly untilNext: () => number | undefined
  /** The number of pending timers. */
  readonly pending: () => number
}

interface Timer {
  /** The elapsed time, or the instant of `now`, at which it fires. */
  readonly due: number
  readonly isInstant: boolean
  readonly callback: () => void
}

/** A clock that changes only when the test moves it. */
export function createManualClock(startAt: number = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsed = 0
  /** The offset of the store's time from elapsed time. */
  let ahead = startAt
  let wallAhead = startAt
  const timers = new Set<Timer>()

  const dueAt = ({ due, isInstant }: Timer): number => (isInstant ? due - ahead : due)

  function next(until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of timers) {
      if (dueAt(timer) > until) continue
      if (first === undefined || dueAt(timer) < dueAt(first)) first = timer
    }
    return first
  }

  function set(timer: Timer): CancelTimer {
    timers.add(timer)
    return () => timers.delete(timer)
  }

  function advance(ms: number): void {
    const until = elapsed + ms
    for (let timer = next(until); timer !== undefined; timer = next(until)) {
      timers.delete(timer)
      elapsed = Math.max(elapsed, dueAt(timer))
      timer.callback()
    }
    elapsed = until
  }

  return {
    now: () => ahead + elapsed,
    elapsed: () => elapsed,
    wall: () => wallAhead + elapsed,
    after: (ms, callback) => set({ due: elapsed + Math.max(0, ms), isInstant: false, callback }),
    at: (instant, callback) => set({ due: instant, isInstant: true, callback }),
    advance,
    stepWall(ms) {
      wallAhead += ms
    },
    sleep(ms) {
      ahead += ms
      wallAhead += ms
      advance(0)
    },
    untilNext() {
      const first = next(Number.POSITIVE_INFINITY)
      return first && Math.max(0, dueAt(first) - elapsed)
    },
    pending: () => timers.size,
  }
}
