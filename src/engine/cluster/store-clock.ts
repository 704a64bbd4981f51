/**
 * The time of a shared store, as the engine uses it: the local clock, moved by the difference that was measured last. All
 * processes of a cluster record times of one clock, whatever their own clocks show (C9 of `membership.ts`). Timers keep
 * their instant of the store when the local clock is set.
 */
import type { CancelTimer, Clock } from '../../ports/clock.ts'

export interface StoreClock extends Clock {
  /** The store's clock shows so much more than the local one. */
  setOffset(ms: number): void
}

interface Timer {
  readonly instant: number
  readonly callback: () => void
  cancel: CancelTimer
}

export function createStoreClock(local: Clock): StoreClock {
  let offset = 0
  const timers = new Set<Timer>()

  function arm(timer: Timer): void {
    timer.cancel()
    timer.cancel = local.at(timer.instant - offset, () => {
      timers.delete(timer)
      timer.callback()
    })
  }

  return {
    now: () => local.now() + offset,
    elapsed: local.elapsed,
    after: local.after,
    at(instant, callback) {
      const timer: Timer = { instant, callback, cancel: () => undefined }
      timers.add(timer)
      arm(timer)
      return () => {
        timers.delete(timer)
        timer.cancel()
      }
    },
    setOffset(ms) {
      const before = offset
      offset = Math.round(ms)
      if (offset !== before) for (const timer of timers) arm(timer)
    },
  }
}
