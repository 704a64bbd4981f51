/**
 * Dispatches events that an earlier process left, on an embedded store. Each tenant's events are
 * read and dispatched in order, and tenants do not wait for each other. Failures are retried.
 */
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../ports/log.ts'
import type { EventStore } from '../../../ports/store/events.ts'
import type { TaskStore } from '../../../ports/store/tasks.ts'
import type { PendingWork } from '../../executor/pending-work.ts'
import type { Dispatcher } from './dispatcher.ts'
import { EVERY, type EventCursor } from './event-cursor.ts'

export interface CatchUp {
  /** Resolves when the dispatch has begun. */
  start(): Promise<void>
  /** Stops after the current page. The next process dispatches the rest. */
  stop(): void
}

export interface CatchUpDeps {
  readonly store: Pick<EventStore, 'events'> & Pick<TaskStore, 'tenants'>
  readonly clock: Clock
  readonly log: Log
  readonly cursor: EventCursor
  readonly pending: PendingWork
  readonly dispatchAll: Dispatcher['dispatchAll']
}

const PAGE = 256
/** Tenants whose events are dispatched at the same time. */
const TENANTS = 1_000
const RETRY_MS = 1_000

export function createCatchUp(deps: CatchUpDeps): CatchUp {
  const { store, clock, log, cursor, pending, dispatchAll } = deps
  let stopped = false

  async function dispatchTenant(tenant: string, after: number, last: number): Promise<void> {
    for (let from = after; !stopped; ) {
      const page = await store.events(tenant, from, PAGE)
      const found = page.filter(({ pos }) => pos <= last)
      await dispatchAll(found)
      if (found.length < PAGE) return
      from = found.at(-1)?.pos ?? last
    }
  }

  async function dispatchAfter(after: number, last: number): Promise<void> {
    if (after >= last) return
    for (let tenant = ''; !stopped; ) {
      const tenants = await store.tenants(tenant, TENANTS)
      await Promise.all(tenants.map((one) => dispatchTenant(one, after, last)))
      if (tenants.length < TENANTS) return
      tenant = tenants.at(-1) ?? tenant
    }
  }

  async function attempt(after: number, last: number): Promise<void> {
    try {
      await dispatchAfter(after, last)
      if (!stopped) cursor.caughtUp()
    } catch (error) {
      log('error', 'events of an earlier process could not be dispatched; trying again', { error })
      clock.after(RETRY_MS, () => {
        pending.track(attempt(after, last)).catch(() => undefined)
      })
    }
  }

  return {
    async start() {
      const after = await cursor.load()
      pending.track(attempt(after, cursor.lastPos(EVERY))).catch(() => undefined)
    },
    stop() {
      stopped = true
    },
  }
}
