/**
 * The position up to which retention has removed events. Tasks forget that they consumed an event
 * that no longer exists (V4 of `events.ts`).
 */
import type { EventStore } from '../../../ports/store/events.ts'

export interface RemovedEvents {
  readonly upTo: () => number
  /** Called after retention has removed events. */
  refresh(): Promise<void>
}

export function createRemovedEvents(
  store: Pick<EventStore, 'events'>,
  lastPos: () => Promise<number>,
): RemovedEvents {
  let upTo = 0
  return {
    upTo: () => upTo,
    async refresh() {
      // Read before the query, so that an event stored during the query does not count as removed.
      const newest = await lastPos()
      const [oldest] = await store.events(undefined, 0, 1)
      upTo = oldest === undefined ? newest : oldest.pos - 1
    },
  }
}
