/**
 * Records in a shared store which events were dispatched. An event is marked after every task that
 * waited for it was offered it. An event that is not marked in time is dispatched again by any
 * process.
 */

import type { ClusterStore } from '../../../ports/store/cluster.ts'
import type { EventStore } from '../../../ports/store/events.ts'
import type { EventCursor } from './event-cursor.ts'

export function createDispatchedEvents(cluster: Pick<ClusterStore, 'markDispatched'>): EventCursor {
  let lastPos = 0
  let dispatched: number[] = []
  let behind = true
  return {
    lastPos: () => lastPos,
    advance: (pos) => {
      lastPos = Math.max(lastPos, pos)
    },
    reset: (pos) => {
      lastPos = pos
    },
    begin: () => undefined,
    finish: (pos) => {
      dispatched.push(pos)
    },
    load: async () => lastPos,
    caughtUp: () => {
      behind = false
    },
    isBehind: () => behind,
    // No event needs to be kept on account of this process, because the shared store itself keeps
    // events that are not marked.
    keptFrom: () => Number.POSITIVE_INFINITY,
    async save() {
      const positions = dispatched
      dispatched = []
      // If this fails, the events are dispatched again, which is harmless: an event wakes a task at
      // most once.
      if (positions.length > 0) await cluster.markDispatched(positions).catch(() => undefined)
    },
  }
}

/**
 * The position up to which retention has removed events. Tasks forget that they consumed an event
 * that no longer exists (V4 of `events.ts`).
 */
interface RemovedEvents {
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
