/** How far the clock of the store is ahead of the local one, from the answers to heartbeats. */
import type { Clock } from '../../ports/clock.ts'
import type { Instant } from './lease.ts'

const LONGEST_ROUND_TRIP_MS = 500

/** Give it what the store's clock showed, and when it was asked. */
export function createOffsetMeter(
  clock: Clock,
  setOffset: (ms: number) => void,
): (shown: number, asked: Instant) => void {
  let measured = false
  return (shown, asked) => {
    const tookMs = clock.elapsed() - asked.elapsed
    // The store read its clock somewhere within the round trip. After a long one that is too vague.
    if (measured && tookMs > LONGEST_ROUND_TRIP_MS) return
    measured = true
    setOffset(shown - (asked.now + clock.now()) / 2)
  }
}
