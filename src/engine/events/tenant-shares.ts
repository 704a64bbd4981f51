/**
 * How much of a kind of work each tenant may have under way at once. What a tenant has beyond that waits, in order. It
 * holds up no other tenant, and waiting work starts in a later turn of the event loop, so other requests come first.
 */
export interface TenantShares {
  /** Runs the work when the tenant has room for it, and gives the room back however the work ends. */
  during<T>(tenant: string, work: () => Promise<T>): Promise<T>
}

interface Share {
  open: number
  /** In the order of their arrival. */
  readonly waiting: Set<() => void>
}

export function createTenantShares(most: number): TenantShares {
  const shares = new Map<string, Share>()

  function leave(tenant: string, share: Share): void {
    const [next] = share.waiting
    if (next === undefined) {
      share.open--
      if (share.open === 0) shares.delete(tenant)
      return
    }
    share.waiting.delete(next)
    setImmediate(next)
  }

  return {
    async during(tenant, work) {
      const share = shares.get(tenant) ?? { open: 0, waiting: new Set() }
      shares.set(tenant, share)
      if (share.open < most) share.open++
      else await new Promise<void>((start) => share.waiting.add(start))
      try {
        return await work()
      } finally {
        leave(tenant, share)
      }
    },
  }
}
