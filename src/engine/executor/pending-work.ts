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
