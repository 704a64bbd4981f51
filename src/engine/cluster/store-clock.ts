/**
 * The time of a shared store, as the engine uses it: the local clock, moved by the difference that was measured last. All
 * processes of a cluster record times of one clock, whatever their own clocks show (C9 of `membership.ts`).
 */
import type { Clock } from '../../ports/clock.ts'

export interface StoreClock extends Clock {
  /** The store's clock shows so much more than the local one. */
  setOffset(ms: number): void
}

export function createStoreClock(local: Clock): StoreClock {
  let offset = 0
  return {
    now: () => local.now() + offset,
    elapsed: local.elapsed,
    after: local.after,
    at: (instant, callback) => local.at(instant - offset, callback),
    setOffset(ms) {
      offset = Math.round(ms)
    },
  }
}
