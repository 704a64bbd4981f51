import type { Clock } from '../ports/clock.ts'

export interface ManualClock extends Clock {
  /** Moves time on, calling back what falls due on the way, in order. */
  advance(ms: number): void
  /** How many timers wait. */
  readonly pending: () => number
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that stands still until the test moves it. */
export function createManualClock(startAt: number = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startAt
  let timers: Timer[] = []

  function next(until: number): Timer | undefined {
    return timers
      .filter((timer) => timer.at <= until)
      .reduce<Timer | undefined>((a, b) => (a === undefined || b.at < a.at ? b : a), undefined)
  }

  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + Math.max(0, ms), callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance(ms) {
      const until = now + ms
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        const fired = timer
        timers = timers.filter((other) => other !== fired)
        now = Math.max(now, fired.at)
        fired.callback()
      }
      now = until
    },
    pending: () => timers.length,
  }
}
