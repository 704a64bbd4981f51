/** Finds the filters an event passes, of all that tasks of its tenant wait with and that do not fix a type. */
import type { StoredEvent } from '../core/cloud-event.ts'
import { type EventFilter, FILTER_NAMES, filterOf, passes } from '../core/conditions.ts'
import type { WorkStore } from '../ports/store/work.ts'

/** Names read at once. Other work of the process goes on between two pages. */
const PAGE = 256
/** Parsed filters that are kept: an event is compared with every filter. */
const KEPT_FILTERS = 4_096

/** Yields the wait names of matching filters, page by page. Each filter is compared once, however many tasks have it. */
export type MatchingFilters = (event: StoredEvent) => AsyncGenerator<readonly string[]>

export function createMatchingFilters(store: Pick<WorkStore, 'waitNames'>): MatchingFilters {
  const parsed = new Map<string, EventFilter | undefined>()

  function filterNamed(name: string): EventFilter | undefined {
    if (!parsed.has(name)) {
      if (parsed.size >= KEPT_FILTERS) parsed.clear()
      parsed.set(name, filterOf(name))
    }
    return parsed.get(name)
  }

  return async function* ({ tenant, event }) {
    let after = ''
    for (;;) {
      const page = await store.waitNames(tenant, FILTER_NAMES, after, PAGE)
      yield page.filter((name) => {
        const filter = filterNamed(name)
        return filter !== undefined && passes(filter, event)
      })
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = last
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
