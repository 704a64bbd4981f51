/**
 * Dispatches events in the given order. A failed dispatch is retried until it succeeds (V2 of
 * `events.ts`); in a shared store, its reservation expires and any process dispatches it again
 * (`retell`).
 */
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../ports/log.ts'
import { type ClusterStore, RESERVED_MS } from '../../../ports/store/cluster.ts'
import { whileRenewing } from '../../cluster/while-renewing.ts'
import type { PendingWork } from '../../executor/pending-work.ts'
import type { DispatchEvent } from './dispatch-event.ts'
import { createDelayedSave, type EventCursor } from './event-cursor.ts'

export interface Dispatcher {
  /** Resolves when each event was dispatched, or has failed once. */
  readonly dispatchAll: (events: readonly StoredEvent[]) => Promise<void>
  /** Dispatches events that another process left undispatched. Only in a shared store. */
  retell(): Promise<void>
  /** Resolves when nothing is being dispatched and the cursor is saved. */
  stop(): Promise<void>
}

export interface DispatcherDeps {
  /** Present in a shared store. */
  readonly cluster: Pick<ClusterStore, 'undispatchedEvents' | 'reserveEvents'> | undefined
  readonly clock: Clock
  readonly log: Log
  readonly cursor: EventCursor
  readonly pending: PendingWork
  readonly dispatch: DispatchEvent
}

const PAGE = 256
const SAVE_CURSOR_MS = 1_000
const RETRY_MS = 1_000

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { cluster, clock, log, cursor, pending, dispatch } = deps
  const delayedSave = createDelayedSave(clock, SAVE_CURSOR_MS, () => {
    pending.track(cursor.save()).catch(() => undefined)
  })

  /**
   * Dispatches an event while renewing its reservation, so that no other process of a shared store
   * dispatches it meanwhile.
   */
  function dispatchReserved(event: StoredEvent): Promise<void> {
    if (cluster === undefined) return dispatch(event)
    const renew = (): Promise<void> => cluster.reserveEvents([event])
    return whileRenewing(clock, RESERVED_MS / 2, renew, () => dispatch(event))
  }

  function retryLater(event: StoredEvent): void {
    clock.after(RETRY_MS, () => {
      pending.track(dispatchAll([event])).catch(() => undefined)
    })
  }

  /**
   * A failed dispatch is retried in the background. The cursor does not move past its event until
   * then.
   */
  async function dispatchAll(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) cursor.begin(event)
    for (const event of events) {
      // Lets the process answer requests between two events of a batch.
      if (events.length > 1) await new Promise((resolve) => setImmediate(resolve))
      try {
        await dispatchReserved(event)
        cursor.finish(event)
      } catch (error) {
        const facts = { pos: event.pos, error }
        log('error', 'an event could not be told to everyone; trying again', facts)
        if (cluster === undefined) retryLater(event)
      }
    }
    delayedSave.soon()
  }

  /** Dispatches the events of different tenants in parallel. */
  async function dispatchByTenant(events: readonly StoredEvent[]): Promise<void> {
    const tenants = [...new Set(events.map(({ tenant }) => tenant))]
    await Promise.all(
      tenants.map((one) => dispatchAll(events.filter(({ tenant }) => tenant === one))),
    )
  }

  return {
    dispatchAll,
    async retell() {
      for (;;) {
        const page = (await cluster?.undispatchedEvents(PAGE)) ?? []
        await pending.track(dispatchByTenant(page))
        if (page.length < PAGE) return cursor.caughtUp()
      }
    },
    async stop() {
      delayedSave.cancel()
      await pending.settled()
      await cursor.save()
    },
  }
}
