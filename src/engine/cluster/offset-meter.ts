/**
 * Estimates the offset between the store's clock and the elapsed time of this process, from the
 * answers to heartbeats.
 *
 * O1  The store read its clock at some moment between request and answer. So each measurement gives
 *     a lower and an upper bound of the offset, which differ by the round trip.
 * O2  Earlier bounds still count, and widen with time. So a measurement with a short round trip is
 *     used for minutes while later ones are slow, and the error is never larger than half of the
 *     last round trip.
 * O3  If the old and new bounds do not overlap, the machine slept or the store's clock was set.
 *     Then only the last measurement counts.
 */
import type { StoreClock, StoreOffset } from './store-clock.ts'

/** Twice the rate at which two disciplined clocks may drift apart, as a fraction of the time. */
const DRIFT = 0.001

/**
 * Adds a measurement: what the store's clock showed, and the elapsed time at the request and at the
 * answer.
 */
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
