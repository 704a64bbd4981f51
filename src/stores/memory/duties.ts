/** Duties: work that one worker does for all, for a limited time. */
export interface Duties {
  /** With 0 the worker gives the duty back. */
  take(name: string, workerId: string, forMs: number): boolean
  prune(limit: number): number
}

/** @param now the clock of the store */
export function createDuties(now: () => number): Duties {
  const duties = new Map<string, { readonly workerId: string; readonly until: number }>()
  return {
    take(name, workerId, forMs) {
      const duty = duties.get(name)
      const isMine = duty?.workerId === workerId
      if (forMs === 0) return isMine && duties.delete(name)
      if (duty !== undefined && duty.until > now() && !isMine) return false
      duties.set(name, { workerId, until: now() + forMs })
      return true
    },
    prune(limit) {
      const past = [...duties].filter(([, { until }]) => until <= now()).slice(0, limit)
      for (const [name] of past) duties.delete(name)
      return past.length
    },
  }
}
