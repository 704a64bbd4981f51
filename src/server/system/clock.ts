/**
 * The clock of the operating system. Node's timers have two limits that callers of this clock do not see:
 *
 * K1  A delay above 2^31 - 1 ms (24.8 days) would fire at once. `after` waits in several parts.
 * K2  They count elapsed time, and stand still while the machine is suspended. `at` compares the wall clock with its
 *     instant at least every few seconds.
 */
import type { CancelTimer, Clock } from '../../ports/clock.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const WALL_CLOCK_CHECK_MS = 2_000

/** @param now the wall clock */
export function createSystemClock(now: () => number = Date.now): Clock {
  return {
    now,
    elapsed: () => performance.now(),
    after(ms, callback) {
      let left = ms
      return inParts(() => {
        const part = Math.min(left, LONGEST_TIMER_MS)
        left -= part
        return part
      }, callback)
    },
    at: (instant, callback) =>
      inParts(() => Math.min(instant - now(), WALL_CLOCK_CHECK_MS), callback),
  }
}

export const systemClock: Clock = createSystemClock()

/** Waits for one part after the other until none is left. The callback is never called before this returns. */
function inParts(nextMs: () => number, callback: () => void): CancelTimer {
  const wait = (ms: number): NodeJS.Timeout =>
    setTimeout(
      () => {
        const next = nextMs()
        if (next > 0) timer = wait(next)
        else callback()
      },
      Math.max(0, ms),
    ).unref()
  let timer = wait(nextMs())
  return () => clearTimeout(timer)
}
