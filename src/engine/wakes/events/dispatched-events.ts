/**
 * Records in a shared store which events were dispatched. An event is marked after every task that
 * waited for it was offered it. An event that is not marked in time is dispatched again by any
 * process.
 */

import type { ClusterStore } from '../../../ports/store/cluster.ts'
import type { EventKey, EventPositions, EventStore } from '../../../ports/store/events.ts'
import type { TaskStore } from '../../../ports/store/tasks.ts'
import type { EventCursor } from './event-cursor.ts'

export function createDispatchedEvents(cluster: Pick<ClusterStore, 'markDispatched'>): EventCursor {
  const lastPos = new Map<string, number>()
  let dispatched: EventKey[] = []
  let behind = true
  return {
    lastPos: (tenant) => lastPos.get(tenant) ?? 0,
    advance: (tenant, pos) => {
      if (pos > (lastPos.get(tenant) ?? 0)) lastPos.set(tenant, pos)
    },
    reset: (tenant, pos) => {
      lastPos.set(tenant, pos)
    },
    begin: () => undefined,
    finish: ({ tenant, pos }) => {
      dispatched.push({ tenant, pos })
    },
    load: async () => 0,
    caughtUp: () => {
      behind = false
    },
    isBehind: () => behind,
    // No event needs to be kept on account of this process, because the shared store itself keeps
    // events that are not marked.
    keptFrom: () => Number.POSITIVE_INFINITY,
    async save() {
      const events = dispatched
      dispatched = []
      // If this fails, the events are dispatched again, which is harmless: an event wakes a task at
      // most once.
      if (events.length > 0) await cluster.markDispatched(events).catch(() => undefined)
    },
  }
}

/**
 * The position up to which retention has removed events, for each tenant. Tasks forget that they
 * consumed an event that no longer exists (V4 of `events.ts`).
 */
interface RemovedEvents {
  /** 0 while it is not known. Then tasks remember more than they need. */
  readonly upTo: (tenant: string) => number
  /** Called when the positions of the tenant were read. */
  learn(tenant: string, positions: EventPositions): void
  /** Called after retention has removed events. */
  refresh(): Promise<void>
}

/** Tenants per page. */
const PAGE = 500

export function createRemovedEvents(
  store: Pick<EventStore, 'eventPositions'> & Pick<TaskStore, 'tenants'>,
): RemovedEvents {
  const upTo = new Map<string, number>()

  const learn: RemovedEvents['learn'] = (tenant, { oldest }) => {
    if (oldest > 1) upTo.set(tenant, oldest - 1)
  }

  return {
    upTo: (tenant) => upTo.get(tenant) ?? 0,
    learn,
    async refresh() {
      for (let after = ''; ; ) {
        const tenants = await store.tenants(after, PAGE)
        const positions = await store.eventPositions(tenants)
        for (const [n, one] of positions.entries()) learn(tenants[n] ?? '', one)
        const last = tenants.at(-1)
        if (last === undefined || tenants.length < PAGE) return
        after = last
      }
    },
  }
}
