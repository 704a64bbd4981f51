/**
 * Limits how much work each key, such as a tenant, may have under way at once. Further work of a
 * key waits in order and does not delay other keys. Waiting work starts in a later turn of the
 * event loop, so that other requests come first.
 */
export interface Shares {
  /** Runs the work when the key is below its limit. The place is freed however the work ends. */
  during<T>(key: string, work: () => Promise<T>): Promise<T>
}

interface Share {
  open: number
  /** Work that waits, in the order of arrival. */
  readonly waiting: Set<() => void>
}

export function createShares(most: number): Shares {
  const shares = new Map<string, Share>()

  function leave(key: string, share: Share): void {
    const [next] = share.waiting
    if (next === undefined) {
      share.open--
      if (share.open === 0) shares.delete(key)
      return
    }
    share.waiting.delete(next)
    setImmediate(next)
  }

  return {
    async during(key, work) {
      const share = shares.get(key) ?? { open: 0, waiting: new Set() }
      shares.set(key, share)
      if (share.open < most) share.open++
      else await new Promise<void>((start) => share.waiting.add(start))
      try {
        return await work()
      } finally {
        leave(key, share)
      }
    },
  }
}
