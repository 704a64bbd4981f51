/** First-in-first-out queues, one per key. The head of a queue keeps the key until it leaves. */
export interface Queues {
  /**
   * Resolves at the head of the queue with a function that leaves the queue. Rejects when the
   * signal aborts first.
   */
  enter(key: string, signal?: AbortSignal): Promise<() => void>
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
      // If an entry gives up, entries behind it still wait for those ahead of it.
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
