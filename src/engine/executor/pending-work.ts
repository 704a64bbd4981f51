/** Waits for work in flight, for parts of the engine that stop. */

import type { Clock } from '../../ports/clock.ts'

/** Tracks promises in flight, so that a part of the engine that stops can wait for its own. */
export interface PendingWork {
  /** Returns the same promise. */
  track<T>(work: Promise<T>): Promise<T>
  /** Resolves when everything tracked so far has settled. Never rejects. */
  settled(): Promise<void>
}

export function createPendingWork(): PendingWork {
  const inFlight = new Set<Promise<unknown>>()
  return {
    track(work) {
      inFlight.add(work)
      work.catch(() => undefined).finally(() => inFlight.delete(work))
      return work
    },
    async settled() {
      await Promise.allSettled(inFlight)
    },
  }
}

/**
 * Waits for the work, at most `ms`. Resolves with false if the time passed first; the work then
 * continues.
 */
export async function endsWithin(
  clock: Clock,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  let cancel: () => void = () => undefined
  const over = new Promise<false>((resolve) => {
    cancel = clock.after(ms, () => resolve(false))
  })
  try {
    return await Promise.race([work.then(() => true), over])
  } finally {
    cancel()
  }
}
