/**
 * Finds the filters that an event passes, among those without a fixed type that tasks of its tenant
 * wait with.
 */
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import { type EventFilter, FILTER_NAMES, filterOf, passes } from '../../core/waiting/conditions.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import { createShares } from '../limits/shares.ts'

/** Names per page. Other work of the process runs between two pages. */
const PAGE = 256
/** The most events of a tenant that are compared with filters at the same time. */
const COMPARISONS = 16
/**
 * The size of the cache of parsed filters. It pays because each event is compared with every
 * filter.
 */
const KEPT_FILTERS = 4_096

/**
 * Yields the wait names of matching filters, page by page. Each filter is compared once, however
 * many tasks use it.
 */
export type MatchingFilters = (event: StoredEvent) => AsyncGenerator<readonly string[]>

export function createMatchingFilters(store: Pick<WorkStore, 'waitNames'>): MatchingFilters {
  const parsed = new Map<string, EventFilter | undefined>()
  const comparisons = createShares(COMPARISONS)

  function filterNamed(name: string): EventFilter | undefined {
    if (!parsed.has(name)) {
      if (parsed.size >= KEPT_FILTERS) parsed.clear()
      parsed.set(name, filterOf(name))
    }
    return parsed.get(name)
  }

  /**
   * Compares the event with one page of filters. `next` is the last name of the page, or undefined
   * if it is the last page.
   */
  async function comparePage(
    { tenant, event }: StoredEvent,
    after: string,
  ): Promise<{ readonly names: readonly string[]; readonly next: string | undefined }> {
    const page = await store.waitNames(tenant, FILTER_NAMES, after, PAGE)
    const names = page.filter((name) => {
      const filter = filterNamed(name)
      return filter !== undefined && passes(filter, event)
    })
    return { names, next: page.length < PAGE ? undefined : page.at(-1) }
  }

  return async function* (event) {
    let after = ''
    for (;;) {
      const { names, next } = await comparisons.during(event.tenant, () =>
        comparePage(event, after),
      )
      yield names
      if (next === undefined) return
      after = next
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
