/**
 * The time of a shared store, as the engine uses it: the elapsed time of this process, moved by the offset that heartbeats
 * measure. All processes of a cluster record times of one clock, whatever their wall clocks show (C9 of `membership.ts`).
 *
 * SC1  Setting the wall clock of this machine changes nothing here.
 * SC2  A timer fires when the store's clock has surely reached its instant, so that the store agrees when it is asked then.
 *      It keeps its instant of the store when the offset changes.
 */
import type { CancelTimer, Clock } from '../../ports/clock.ts'

/** The store's clock shows so much more than the elapsed time of this process: between these two values. */
export interface StoreOffset {
  readonly least: number
  readonly most: number
}

export interface StoreClock extends Clock {
  setOffset(offset: StoreOffset): void
}

interface Timer {
  readonly instant: number
  readonly callback: () => void
  cancel: CancelTimer
}

export function createStoreClock(local: Clock): StoreClock {
  // Until the first heartbeat is answered.
  const begun = local.now() - local.elapsed()
  let { least, most }: StoreOffset = { least: begun, most: begun }
  const timers = new Set<Timer>()

  /** Until the store's clock has surely reached the instant. */
  const leftUntil = (instant: number): number =>
    Math.ceil(instant) - Math.floor(local.elapsed() + least)

  function arm(timer: Timer): void {
    timer.cancel()
    timer.cancel = local.after(leftUntil(timer.instant), () => {
      // Timers of the system may be early by a part of a millisecond.
      if (leftUntil(timer.instant) > 0) return arm(timer)
      timers.delete(timer)
      timer.callback()
    })
  }

  return {
    now: () => Math.floor(local.elapsed() + (least + most) / 2),
    elapsed: local.elapsed,
    wall: local.wall,
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
    setOffset(offset) {
      const before = least
      ;({ least, most } = offset)
      if (least !== before) for (const timer of timers) arm(timer)
    },
  }
}
