/**
 * The clock of the engine on a shared store: the elapsed time of this process plus the offset that
 * heartbeats measure. So all processes of a cluster use the time of one clock, whatever their wall
 * clocks show (C9 of `membership.ts`).
 *
 * SC1  Setting the wall clock of this machine changes nothing here.
 * SC2  A timer fires when the store's clock has certainly reached its instant, so that a query sent
 *      then finds it reached. A change of the offset moves the timer accordingly.
 */
import type { CancelTimer, Clock } from '../../ports/clock.ts'

/** Bounds of the offset: store's clock minus elapsed time of this process. */
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
  // Used until the first heartbeat is answered.
  const begun = local.now() - local.elapsed()
  let { least, most }: StoreOffset = { least: begun, most: begun }
  const timers = new Set<Timer>()

  /** The time until the store's clock has certainly reached the instant. */
  const leftUntil = (instant: number): number =>
    Math.ceil(instant) - Math.floor(local.elapsed() + least)

  function arm(timer: Timer): void {
    timer.cancel()
    timer.cancel = local.after(leftUntil(timer.instant), () => {
      // System timers may fire a fraction of a millisecond early.
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
