/**
 * How far the clock of the store is ahead of this process's elapsed time, from the answers to heartbeats.
 *
 * O1  The store read its clock between the question and the answer. So each measurement says between which two values the
 *     offset lies, and the difference of the two is the round trip.
 * O2  The values known before count too, and become vaguer with time. So a short round trip is used for minutes while later
 *     ones are long, and the error is never larger than half of the last round trip.
 * O3  When both cannot be true, the machine slept or the store's clock was set: the last measurement counts alone.
 */
import type { StoreClock, StoreOffset } from './store-clock.ts'

/** Twice what two clocks may drift apart while both are corrected, as parts of the time. */
const DRIFT = 0.001

/** Give it what the store's clock showed, and the elapsed time when it was asked and when the answer came. */
export type OffsetMeter = (shown: number, asked: number, answered: number) => void

export function createOffsetMeter(setOffset: StoreClock['setOffset']): OffsetMeter {
  let known: (StoreOffset & { readonly at: number }) | undefined
  return (shown, asked, answered) => {
    const last = { least: shown - answered, most: shown - asked }
    const vague = known === undefined ? 0 : (answered - known.at) * DRIFT
    const least = Math.max(last.least, (known?.least ?? last.least) - vague)
    const most = Math.min(last.most, (known?.most ?? last.most) + vague)
    known = { ...(least <= most ? { least, most } : last), at: answered }
    setOffset(known)
  }
}
