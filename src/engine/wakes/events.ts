/**
 * External events. An event is durable before it is acknowledged. Then it is offered to every task
 * that waits for it. A task that parks looks back at earlier events. The event is stored before the
 * waiting tasks are read, and the park is stored before earlier events are read. So the event finds
 * the task, or the task finds the event.
 *
 * V1  Each event wakes a task at most once, however often it is delivered or dispatched.
 * V2  An event that was acknowledged before a crash is dispatched after it. The cursor of dispatched events is in the store.
 * V3  The oldest matching event ends a stop. While a task looks back, newer events wait. In a
 *     shared store, other processes may have stored an older event, so the oldest one in the store
 *     is offered.
 * V4  A task remembers that it consumed an event only as long as the store has the event.
 * V5  In a shared store, the transaction that writes a position of an event into a task also checks that the store has
 *     given it. After a failover that lost events, their positions are given again, and no task takes the new events for
 *     the lost ones.
 * V6  The start of a process does not wait until events left by an earlier process are dispatched.
 *     Until then, a task is always offered the oldest matching event, and a task that is due looks
 *     for such an event first.
 */

import type { Task } from '../../core/task.ts'
import { type SpanLink, toTraceparent } from '../../core/values/span-link.ts'
import type { CloudEvent, StoredEvent } from '../../core/waiting/cloud-event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { EventStore } from '../../ports/store/events.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { Store } from '../../ports/store.ts'
import type { Tracing } from '../../ports/tracing.ts'
import { createPendingWork } from '../executor/pending-work.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { TaskPlaces } from '../ledger/task-places.ts'
import { createCatchUp } from './events/catch-up.ts'
import { createDispatchEvent } from './events/dispatch-event.ts'
import { createDispatchedEvents, createRemovedEvents } from './events/dispatched-events.ts'
import { createDispatcher } from './events/dispatcher.ts'
import { createEventCursor, EVERY, type EventCursor } from './events/event-cursor.ts'
import { createLookBacks, type LookBacks, type Wake } from './events/look-back.ts'
import { createOfferEvent } from './events/offer-event.ts'
import type { WakeByEvent } from './wake-by-event.ts'

export interface EmittedEvent {
  /** False for an event whose source and id the server already had. It has no effect. */
  readonly fresh: boolean
  /** How many tasks this process woke with the event, or gave it to as their next wake. */
  readonly woken: number
}

export interface Events extends Pick<LookBacks, 'mayHaveMissed' | 'lookBack'> {
  /** Resolves when the events are durable and every task that waited for them has been offered them. */
  emit(tenant: string, events: readonly CloudEvent[]): Promise<readonly EmittedEvent[]>
  /** The position of the tenant's newest event that this process knows. */
  readonly lastPos: (tenant: string) => number
  /**
   * Reads the position of the tenant's newest event in a shared store. `lastPos` then covers every
   * event that was acknowledged before this call. Undefined for an embedded store.
   */
  readonly refresh: (tenant: string) => Promise<number> | undefined
  /**
   * Called when a shared store may have lost events of the tenant that this process knew (V5). `lastPos` then
   * covers none of them.
   */
  reset(tenant: string): Promise<void>
  /** Dispatches events that another process left undispatched. Only in a shared store. */
  retell(): Promise<void>
  /** Events received at this time or later may not be dispatched yet, so retention keeps them. */
  readonly keptFrom: () => number
  /** Called after retention has removed events (V4). */
  removed(): Promise<void>
  /**
   * Lets an earlier, undispatched event wake a task that is due. Undefined when there is none (V6).
   */
  readonly beforeDue: (task: Task) => Promise<void> | undefined
  /**
   * Runs `lookBacks` for tasks that stopped before a crash, then begins to dispatch the events
   * after the cursor (V6).
   */
  start(lookBacks: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export interface EventsDeps {
  readonly store: EventStore & KeyValueStore & WorkStore & Pick<Store, 'cluster' | 'tenants'>
  readonly places: Pick<TaskPlaces, 'learn'>
  readonly ledger: Pick<Ledger, 'read'>
  readonly clock: Clock
  readonly log: Log
  readonly tracing: Tracing
  readonly wake: WakeByEvent
  /**
   * Called with each event before tasks are offered it. Returns undefined when there is nothing to
   * wait for.
   */
  readonly before?: (event: StoredEvent) => Promise<void> | undefined
}

export function createEvents(deps: EventsDeps): Events {
  const { store, clock, log } = deps
  const { cluster } = store
  const pending = createPendingWork()
  const cursor =
    cluster === undefined ? createEventCursor({ store, log }) : createDispatchedEvents(cluster)
  const removed = createRemovedEvents(store)
  async function readPos(tenant: string): Promise<number> {
    const [positions] = await store.eventPositions([tenant])
    if (positions === undefined) return 0
    cursor.advance(tenant, positions.last)
    removed.learn(tenant, positions)
    return positions.last
  }
  const refresh: Events['refresh'] = (tenant) =>
    cluster === undefined ? undefined : readPos(tenant)
  const woken = createWakeCounts()
  const wake = woken.counted(createWake(deps.wake, cursor.lastPos, removed.upTo))
  const lookBacks = createLookBacks({
    store,
    wake,
    lastPos: cursor.lastPos,
    advance: cursor.advance,
    refresh,
    isShared: cluster !== undefined,
    pending,
  })
  const mayBeOlder = (): boolean => cluster !== undefined || cursor.isBehind()
  const offer = createOfferEvent({ ledger: deps.ledger, lookBacks, wake, mayBeOlder })
  const offerToTasks = createDispatchEvent(store, deps.places, offer)
  const dispatcher = createDispatcher({ ...deps, cluster, cursor, pending, dispatch })
  const { dispatchAll } = dispatcher
  const catchUp = createCatchUp({ store, clock, log, cursor, pending, dispatchAll })

  async function dispatch(event: StoredEvent): Promise<void> {
    const first = deps.before?.(event)
    if (first !== undefined) await first
    await offerToTasks(event)
  }

  async function emit(
    tenant: string,
    given: readonly CloudEvent[],
  ): Promise<readonly EmittedEvent[]> {
    const receivedAt = clock.now()
    const events = given.map((event) => withTrace(event, deps.tracing.current()))
    const stored = await store.appendEvents(tenant, events, receivedAt)
    for (const { pos } of stored) cursor.advance(tenant, pos)
    const fresh = stored.flatMap(({ pos, fresh: isNew }, index) => {
      const event = events[index]
      return isNew && event !== undefined ? [{ pos, tenant, receivedAt, event }] : []
    })
    const counts = woken.begin(fresh)
    await pending.track(dispatchAll(fresh))
    return stored.map(({ pos, fresh: isNew }) => ({ fresh: isNew, woken: counts.end(pos) }))
  }

  return {
    emit,
    mayHaveMissed: lookBacks.mayHaveMissed,
    lookBack: lookBacks.lookBack,
    lastPos: cursor.lastPos,
    refresh,
    reset: (tenant) => reset(tenant, store, cursor),
    beforeDue: (task) => (cursor.isBehind() ? lookBacks.lookBack(task) : undefined),
    keptFrom: cursor.keptFrom,
    retell: dispatcher.retell,
    removed: removed.refresh,
    async start(lookBack) {
      if (cluster === undefined) await readPos(EVERY)
      await removed.refresh()
      await lookBack()
      if (cluster === undefined) return catchUp.start()
      pending.track(dispatcher.retell()).catch((error: unknown) => {
        log('warn', 'events of other processes could not be read; asked again later', { error })
      })
    },
    stop() {
      catchUp.stop()
      return dispatcher.stop()
    },
  }
}

/** Lowers the position only if no newer position arrived during the read. */
async function reset(
  tenant: string,
  store: Pick<EventStore, 'eventPositions'>,
  cursor: EventCursor,
): Promise<void> {
  const before = cursor.lastPos(tenant)
  const [{ last = 0 } = {}] = await store.eventPositions([tenant])
  if (cursor.lastPos(tenant) === before) cursor.reset(tenant, last)
  else cursor.advance(tenant, last)
}

/**
 * If the store has lost events, the command is decided again. Then only positions that the store
 * has are passed to it (V5).
 */
function createWake(
  offer: WakeByEvent,
  lastPos: EventCursor['lastPos'],
  removedUpTo: (tenant: string) => number,
): Wake {
  return async (taskId, event, mayTake) => {
    const { tenant } = event
    let lost = false
    const mayWake: typeof mayTake = (task) => {
      lost = event.pos > lastPos(tenant)
      return !lost && mayTake(task)
    }
    const removed = (): number => Math.min(removedUpTo(tenant), lastPos(tenant))
    const offered = await offer(taskId, event, mayWake, removed)
    return lost ? 'lost' : offered
  }
}

/** Counts the tasks that take the events of a call while these are dispatched. */
function createWakeCounts() {
  const counts = new Map<string, number>()
  const keyOf = (tenant: string, pos: number): string => `${pos} ${tenant}`
  return {
    counted:
      (wake: Wake): Wake =>
      async (taskId, event, mayTake) => {
        const offered = await wake(taskId, event, mayTake)
        const key = keyOf(event.tenant, event.pos)
        const count = counts.get(key)
        if (offered === 'taken' && count !== undefined) counts.set(key, count + 1)
        return offered
      },
    begin(events: readonly StoredEvent[]) {
      const keys = new Map(events.map(({ tenant, pos }) => [pos, keyOf(tenant, pos)]))
      for (const key of keys.values()) counts.set(key, 0)
      return {
        end(pos: number): number {
          const key = keys.get(pos)
          if (key === undefined) return 0
          const count = counts.get(key) ?? 0
          counts.delete(key)
          return count
        },
      }
    },
  }
}

/** Adds the CloudEvents extension for distributed tracing, unless the sender has set it. */
function withTrace(event: CloudEvent, current: SpanLink | undefined): CloudEvent {
  if (current === undefined || event['traceparent'] !== undefined) return event
  return { ...event, traceparent: toTraceparent(current) }
}
