/** One after the other, first in first out, per session. */
export interface Lines {
  /** Resolves at the head of the line; the result lets the next one through. Rejects when the signal fires first. */
  enter(key: string, signal?: AbortSignal): Promise<() => void>
  /** Whether anybody is in it. */
  busy(key: string): boolean
}

export function createLines(): Lines {
  const tails = new Map<string, Promise<void>>()

  return {
    async enter(key, signal) {
      const ahead = tails.get(key)
      let leave: () => void = () => undefined
      const mine = new Promise<void>((resolve) => {
        leave = resolve
      })
      // Whoever gives up still lets those behind pass only after those before.
      const over = Promise.all([ahead, mine]).then(() => {
        if (tails.get(key) === over) tails.delete(key)
      })
      tails.set(key, over)
      try {
        await settled(ahead ?? Promise.resolve(), signal)
      } catch (error) {
        leave()
        throw error
      }
      return leave
    },
    busy: (key) => tails.has(key),
  }
}

/** Resolves with the promise, or rejects with the signal's reason. */
export async function settled<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal?.aborted) throw signal.reason
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
