/**
 * Offers an event to every task that waits under one of its names or with a filter that it passes.
 *
 * D1  Events of one tenant do not delay those of another, however many filters and tasks the tenant
 *     has.
 */
import { namesOf, type StoredEvent } from '../../../core/waiting/cloud-event.ts'
import { ANY_NAME } from '../../../core/waiting/conditions.ts'
import type { WorkStore } from '../../../ports/store/work.ts'
import { createShares } from '../../limits/shares.ts'
import { createMatchingFilters } from '../event-filters.ts'

export type DispatchEvent = (event: StoredEvent) => Promise<void>

/** Tasks per page. */
const PAGE = 256
/** Filters whose tasks are looked up with one query. */
const NAMES = 64
/** The most tasks of a tenant that are offered an event at the same time. */
const OFFERS = 256

export function createDispatchEvent(
  store: Pick<WorkStore, 'waiting' | 'waitNames'>,
  offer: (taskId: string, event: StoredEvent) => Promise<void>,
): DispatchEvent {
  const matchingFilters = createMatchingFilters(store)
  const offers = createShares(OFFERS)

  /** Offers the event page by page, and lets other work of the process run in between. */
  async function offerToAll(event: StoredEvent, names: readonly string[]): Promise<void> {
    let after = ''
    for (;;) {
      const page = await store.waiting(event.tenant, names, after, PAGE)
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
