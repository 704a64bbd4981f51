import type { CloudEvent, StoredEvent } from '../../core/cloud-event.ts'

/** External events, in the order they came. */
export interface EventStore {
  /** Keeps events durably. Returns the position of each, and whether it was new (`source` + `id` decide, per tenant). */
  appendEvents(
    tenant: string,
    events: readonly CloudEvent[],
    receivedAt: number,
  ): Promise<readonly { readonly pos: number; readonly fresh: boolean }[]>
  /** Events after `afterPos` that carry one of the names (all events, when absent), oldest first. */
  events(
    tenant: string | undefined,
    afterPos: number,
    limit: number,
    names?: readonly string[],
  ): Promise<readonly StoredEvent[]>
  /** The position of the newest event of any tenant, also when it was removed since; 0 when there was none. */
  lastEventPos(): Promise<number>
  pruneEvents(receivedBefore: number, limit: number): Promise<number>
}
