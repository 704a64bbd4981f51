/** Finds the filters an event passes, of all that tasks of its tenant wait with and that do not fix a type. */
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import { type EventFilter, FILTER_NAMES, filterOf, passes } from '../../core/waiting/conditions.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import { createShares } from '../limits/shares.ts'

/** Names read at once. Other work of the process goes on between two pages. */
const PAGE = 256
/** Events of a tenant that are compared with a page of filters at the same time. */
const COMPARISONS = 16
/** Parsed filters that are kept: an event is compared with every filter. */
const KEPT_FILTERS = 4_096

/** Yields the wait names of matching filters, page by page. Each filter is compared once, however many tasks have it. */
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

  /** The filters of one page that the event passes, and the last name of a page that is not the last one. */
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
