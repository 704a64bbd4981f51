/** Until when this process may start steps, as far as it can know from its own clocks (C3). */
import type { Clock } from '../../ports/clock.ts'

/**
 * An instant by two clocks. Elapsed time stands still while a machine sleeps, and the wall clock can be set. The clock by
 * which more time has passed counts: a process that slept never believes that it still has its lease.
 */
export interface Instant {
  readonly elapsed: number
  readonly wall: number
}

export interface Lease {
  /** The instant to give to `renewed` when the store has answered. */
  readonly instant: () => Instant
  /** The store has answered a heartbeat that was sent then. If that is not too long ago, code that waits goes on. */
  renewed(sent: Instant): void
  /** Whether another process cannot have taken the lease yet. */
  readonly isCurrent: () => boolean
  /** Resolves when the lease is current again. */
  nextRenewal(): Promise<void>
}

/** No step starts this long before the lease ends. */
const MARGIN_MS = 2_000

export function createLease(clock: Pick<Clock, 'elapsed' | 'wall'>, leaseMs: number): Lease {
  const margin = Math.min(MARGIN_MS, leaseMs / 5)
  /** When the last heartbeat that was answered was sent. */
  let lastSent: Instant = { elapsed: 0, wall: 0 }
  let waiting: (() => void)[] = []

  function isCurrent(): boolean {
    const passed = Math.max(clock.elapsed() - lastSent.elapsed, clock.wall() - lastSent.wall)
    return passed < leaseMs - margin
  }

  return {
    instant: () => ({ elapsed: clock.elapsed(), wall: clock.wall() }),
    renewed(sent) {
      lastSent = sent
      // A process that was stopped gets the answer to an old heartbeat when it goes on. Others may have its tasks.
      if (!isCurrent()) return
      const resumed = waiting
      waiting = []
      for (const go of resumed) go()
    },
    isCurrent,
    nextRenewal: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      }),
  }
}
