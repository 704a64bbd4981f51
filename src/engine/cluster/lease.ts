/**
 * Computes, from the clocks of this process alone, until when it may start steps (C3 of
 * `membership.ts`).
 */
import type { Clock } from '../../ports/clock.ts'

/**
 * An instant on two clocks. Elapsed time stops while a machine sleeps, and the wall clock can be
 * set, so the clock on which more time has passed counts: a process that slept never assumes that
 * it still has its lease.
 */
export interface Instant {
  readonly elapsed: number
  readonly wall: number
}

export interface Lease {
  /** The current instant. The caller passes it to `renewed` when the store has answered. */
  readonly instant: () => Instant
  /**
   * Called when the store has answered a heartbeat that was sent at `sent`. If that is recent
   * enough, waiting code continues.
   */
  renewed(sent: Instant): void
  /** Whether it is certain that no other process has taken over the tasks of this one. */
  readonly isCurrent: () => boolean
  /** Resolves when the lease is current again. */
  nextRenewal(): Promise<void>
}

/** Steps stop being started this long before the lease ends. */
const MARGIN_MS = 2_000

export function createLease(clock: Pick<Clock, 'elapsed' | 'wall'>, leaseMs: number): Lease {
  const margin = Math.min(MARGIN_MS, leaseMs / 5)
  /** When the last answered heartbeat was sent. */
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
      // A process that was suspended may get the answer to an old heartbeat. Others may have its
      // tasks by then.
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
