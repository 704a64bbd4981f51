import type { CloudEvent, StoredEvent } from '../../core/waiting/cloud-event.ts'

/** An event in a store. */
export type EventKey = Pick<StoredEvent, 'tenant' | 'pos'>

/** Positions of a tenant's events. */
export interface EventPositions {
  /**
   * At or above the highest position ever given to an event of the tenant, and below those that will
   * be given. 0 when there was none.
   */
  readonly last: number
  /** The position of the oldest event that is kept; `last + 1` when there is none. */
  readonly oldest: number
}

/**
 * Stores external events in the order of arrival. Positions grow within a tenant. Those of several
 * tenants can be compared only in an embedded store, which has one number line.
 */
export interface EventStore {
  /**
   * Stores events durably. An event whose `source` and `id` the tenant already has is not stored
   * again, and keeps its position.
   */
  appendEvents(
    tenant: string,
    events: readonly CloudEvent[],
    receivedAt: number,
  ): Promise<readonly { readonly pos: number; readonly fresh: boolean }[]>
  /** Events after `afterPos`, oldest first. With `names`, only events that have one of them. */
  events(
    tenant: string,
    afterPos: number,
    limit: number,
    names?: readonly string[],
  ): Promise<readonly StoredEvent[]>
  /** In the order of the tenants. */
  eventPositions(tenants: readonly string[]): Promise<readonly EventPositions[]>
  /** Removes old events, nearly in the order of their age. A shared store keeps an event until it is marked as dispatched. */
  pruneEvents(receivedBefore: number, limit: number): Promise<number>
}
