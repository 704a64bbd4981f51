/** Up to which position retention has removed events. Tasks forget that they consumed an event that is gone (V4). */
import type { EventStore } from '../../../ports/store/events.ts'

export interface RemovedEvents {
  readonly upTo: () => number
  /** Retention has removed events. */
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
      // Read before the store is asked, so that an event that is stored meanwhile does not count as removed.
      const newest = await lastPos()
      const [oldest] = await store.events(undefined, 0, 1)
      upTo = oldest === undefined ? newest : oldest.pos - 1
    },
  }
}
