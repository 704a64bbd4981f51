/**
 * Limits how many deliveries are under way at once, in total and to one host. Each has a socket,
 * and a process without free sockets cannot accept requests either. Further deliveries wait; a host
 * that does not answer delays only its own. A free slot goes to the tenant with the fewest, so that
 * slow receivers of one tenant do not delay others.
 */
export interface Slots {
  /** Runs the work when there is a slot for it, and frees the slot however the work ends. */
  during<T>(use: SlotUse, work: () => Promise<T>): Promise<T>
}

export interface SlotUse {
  readonly tenant: string
  readonly host: string
}

export interface SlotLimits {
  readonly total: number
  readonly perHost: number
}

export const defaultSlots: SlotLimits = { total: 64, perHost: 8 }

interface Waiting extends SlotUse {
  readonly start: () => void
}

export function createSlots({ total, perHost }: SlotLimits = defaultSlots): Slots {
  const byHost = createCounts()
  const byTenant = createCounts()
  /** Work that waits, in the order of arrival. */
  const waiting = new Set<Waiting>()
  let open = 0

  function isFree({ host }: SlotUse): boolean {
    return open < total && byHost.of(host) < perHost
  }

  function count({ host, tenant }: SlotUse, by: 1 | -1): void {
    open += by
    byHost.add(host, by)
    byTenant.add(tenant, by)
  }

  function next(): Waiting | undefined {
    let found: Waiting | undefined
    for (const one of waiting) {
      if (!isFree(one)) continue
      if (found === undefined || byTenant.of(one.tenant) < byTenant.of(found.tenant)) found = one
    }
    return found
  }

  function free(use: SlotUse): void {
    count(use, -1)
    const one = next()
    if (one === undefined) return
    waiting.delete(one)
    count(one, 1)
    one.start()
  }

  return {
    async during(use, work) {
      if (isFree(use)) count(use, 1)
      else await new Promise<void>((start) => waiting.add({ ...use, start }))
      try {
        return await work()
      } finally {
        free(use)
      }
    },
  }
}

interface Counts {
  of(name: string): number
  add(name: string, by: 1 | -1): void
}

function createCounts(): Counts {
  const counts = new Map<string, number>()
  const of: Counts['of'] = (name) => counts.get(name) ?? 0
  return {
    of,
    add(name, by) {
      const now = of(name) + by
      if (now === 0) counts.delete(name)
      else counts.set(name, now)
    },
  }
}
