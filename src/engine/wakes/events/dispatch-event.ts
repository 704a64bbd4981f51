/**
 * Offers an event to every task that waits under one of its names or with a filter that it passes.
 *
 * D1  Events of one tenant do not delay those of another, however many filters and tasks the tenant
 *     has.
 */

import { namesOf, type StoredEvent } from '../../../core/waiting/cloud-event.ts'
import {
  ANY_NAME,
  type EventFilter,
  FILTER_NAMES,
  filterOf,
  passes,
} from '../../../core/waiting/conditions.ts'
import type { WorkStore } from '../../../ports/store/work.ts'
import type { TaskPlaces } from '../../ledger/task-places.ts'
import { createShares } from '../../limits/shares.ts'

export type DispatchEvent = (event: StoredEvent) => Promise<void>

/** Tasks per page. */
const PAGE = 256
/** Filters whose tasks are looked up with one query. */
const NAMES = 64
/** The most tasks of a tenant that are offered an event at the same time. */
const OFFERS = 256

export function createDispatchEvent(
  store: Pick<WorkStore, 'waiting' | 'waitNames'>,
  places: Pick<TaskPlaces, 'learn'>,
  offer: (taskId: string, event: StoredEvent) => Promise<void>,
): DispatchEvent {
  const matchingFilters = createMatchingFilters(store)
  const offers = createShares(OFFERS)

  /** Offers the event page by page, and lets other work of the process run in between. */
  async function offerToAll(event: StoredEvent, names: readonly string[]): Promise<void> {
    let after = ''
    for (;;) {
      const page = await store.waiting(event.tenant, names, after, PAGE)
      for (const taskId of page) places.learn(taskId, event.tenant)
      await Promise.all(
        page.map((taskId) => offers.during(event.tenant, () => offer(taskId, event))),
      )
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = last
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  return async (event) => {
    await offerToAll(event, [...namesOf(event.event), ANY_NAME])
    for await (const names of matchingFilters(event)) {
      for (let from = 0; from < names.length; from += NAMES) {
        await offerToAll(event, names.slice(from, from + NAMES))
      }
    }
  }
}

/**
 * Finds the filters that an event passes, among those without a fixed type that tasks of its tenant
 * wait with.
 */

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
type MatchingFilters = (event: StoredEvent) => AsyncGenerator<readonly string[]>

function createMatchingFilters(store: Pick<WorkStore, 'waitNames'>): MatchingFilters {
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
