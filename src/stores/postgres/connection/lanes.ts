/**
 * Joins writes that lock something of a tenant until they are on disk: events and entries of the audit
 * log. Invariants (lanes.test.ts):
 *  J1  all of them together take at most two connections of the pool for writes, so that the others
 *      stay free for commits;
 *  J2  those of one tenant take at most one, so a tenant whose statement stands still stops no other;
 *  J3  the calls of one event-loop turn for a tenant, and those that come while a statement of it is
 *      under way, share the next statement.
 */

import { failureOf } from './failures.ts'

export interface Lanes {
  /** Runs the work when the tenant has nothing else under way, and not more than two tenants have. */
  during(tenant: string, work: () => Promise<void>): void
}

const MOST_UNDER_WAY = 2
/** The most items in one statement, unless one call has more. */
const MOST_ITEMS = 256

export function createLanes(): Lanes {
  const waiting: { readonly tenant: string; readonly work: () => Promise<void> }[] = []
  const busy = new Set<string>()

  function next(): void {
    while (busy.size < MOST_UNDER_WAY) {
      const index = waiting.findIndex(({ tenant }) => !busy.has(tenant))
      const [one] = index === -1 ? [] : waiting.splice(index, 1)
      if (one === undefined) return
      const { tenant, work } = one
      busy.add(tenant)
      const ended = (): void => {
        busy.delete(tenant)
        next()
      }
      work().then(ended, ended)
    }
  }

  return {
    during(tenant, work) {
      waiting.push({ tenant, work })
      next()
    },
  }
}

interface Call<Item, Result> {
  readonly items: readonly Item[]
  readonly resolve: (results: readonly Result[]) => void
  readonly reject: (error: unknown) => void
}

/** @param write returns one result per item, in their order */
export function joinedByTenant<Item, Result>(
  lanes: Lanes,
  write: (tenant: string, items: readonly Item[]) => Promise<readonly Result[]>,
): (tenant: string, items: readonly Item[]) => Promise<readonly Result[]> {
  /** Calls whose statement has not begun. */
  const queues = new Map<string, Call<Item, Result>[]>()

  function schedule(tenant: string): void {
    lanes.during(tenant, async () => {
      const queue = queues.get(tenant) ?? []
      const calls = takeFrom(queue)
      if (queue.length === 0) queues.delete(tenant)
      else schedule(tenant)
      await answer(tenant, calls)
    })
  }

  async function answer(tenant: string, calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await write(
        tenant,
        calls.flatMap(({ items }) => items),
      )
      let from = 0
      for (const { items, resolve } of calls) {
        resolve(results.slice(from, from + items.length))
        from += items.length
      }
    } catch (error) {
      // The database may have refused a value of one call. Then each call is tried alone.
      if (calls.length > 1 && failureOf(error).kind === 'content') {
        for (const call of calls) await answer(tenant, [call])
      } else for (const { reject } of calls) reject(error)
    }
  }

  return (tenant, items) =>
    new Promise((resolve, reject) => {
      const call = { items, resolve, reject }
      const queue = queues.get(tenant)
      if (queue !== undefined) {
        queue.push(call)
        return
      }
      queues.set(tenant, [call])
      setImmediate(() => schedule(tenant))
    })
}

function takeFrom<Item, Result>(calls: Call<Item, Result>[]): readonly Call<Item, Result>[] {
  let items = 0
  const end = calls.findIndex((call) => {
    items += call.items.length
    return items > MOST_ITEMS
  })
  return calls.splice(0, end === -1 ? calls.length : Math.max(1, end))
}
