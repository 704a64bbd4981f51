import type { CloudEvent, StoredEvent } from '../../core/waiting/cloud-event.ts'

/** Stores external events in the order of arrival. */
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
    tenant: string | undefined,
    afterPos: number,
    limit: number,
    names?: readonly string[],
  ): Promise<readonly StoredEvent[]>
  /** The highest position ever given to an event, of any tenant. 0 when there was none. */
  lastEventPos(): Promise<number>
  /** Removes old events, oldest first. A shared store keeps an event until it is marked as dispatched. */
  pruneEvents(receivedBefore: number, limit: number): Promise<number>
}
