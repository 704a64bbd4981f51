/** One queue per key, first in first out: whoever is at its head has the key until they leave. */
export interface Queues {
  /** Resolves at the head of the queue; the result lets the next one in. Rejects when the signal fires first. */
  enter(key: string, signal?: AbortSignal): Promise<() => void>
  /** Whether anybody is in the queue. */
  isBusy(key: string): boolean
}

export function createQueues(): Queues {
  const tails = new Map<string, Promise<void>>()

  return {
    async enter(key, signal) {
      const ahead = tails.get(key)
      let leave: () => void = () => undefined
      const mine = new Promise<void>((resolve) => {
        leave = resolve
      })
      // Giving up lets nobody overtake: those behind still wait for those ahead.
      const over = Promise.all([ahead, mine]).then(() => {
        if (tails.get(key) === over) tails.delete(key)
      })
      tails.set(key, over)
      try {
        await abortable(ahead ?? Promise.resolve(), signal)
      } catch (error) {
        leave()
        throw error
      }
      return leave
    },
    isBusy: (key) => tails.has(key),
  }
}

/** Resolves with the promise, or rejects with the signal's reason. */
export async function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal?.aborted) throw signal.reason
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
