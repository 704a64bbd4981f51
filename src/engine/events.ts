/**
 * External events. An event is durable before it is acknowledged; then every task that waits under one of its names is
 * told. A task that parks looks back at events it has not consumed. One of the two always sees the other, so an event
 * and a park that race never miss (mark, then look, on both sides).
 *
 * V1  Each event wakes a task at most once, however often it is delivered or dispatched.
 * V2  What was acknowledged before a crash is dispatched after it: the cursor of dispatched events is in the store.
 * V3  A stop is woken by the oldest event that fits: while it looks back, newer ones wait.
 * V4  A task remembers that it consumed an event only as long as the store has the event.
 */

import { type CloudEvent, namesOf, type StoredEvent } from '../core/cloud-event.ts'
import { ANY_NAME, waitForAnyType, waitNames } from '../core/conditions.ts'
import { wakesOn } from '../core/decide/pausing.ts'
import type { Suspension } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { EventStore } from '../ports/store/events.ts'
import type { KeyValueStore } from '../ports/store/key-values.ts'
import type { WorkStore } from '../ports/store/work.ts'
import { createMatchingFilters } from './event-filters.ts'
import type { WakeByEvent } from './wake-by-event.ts'

export interface Events {
  /** Resolves when the events are durable and everyone who waited for them has been told. */
  emit(
    tenant: string,
    events: readonly CloudEvent[],
  ): Promise<readonly { readonly fresh: boolean }[]>
  /** A task stopped: whether events may have been faster than its stop. */
  readonly mayHaveMissed: (task: Task) => boolean
  readonly lookBack: (task: Task) => Promise<void>
  readonly lastPos: () => number
  /** Retention has removed events: the tasks that consumed them may forget it (V4). */
  removed(): Promise<void>
  /** First what stopped tasks have not looked at (`lookBacks`), then what nobody was told. */
  start(lookBacks: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const PAGE = 256
/** Filters whose tasks are looked up together. */
const NAMES = 64
const CURSOR = 'events.dispatched'
/** A cursor that is late only means that some events are matched again after a crash. */
const CURSOR_MS = 1_000
const RETRY_MS = 1_000

export function createEvents(deps: {
  readonly store: EventStore & KeyValueStore & WorkStore
  readonly clock: Clock
  readonly log: Log
  readonly wake: WakeByEvent
}): Events {
  const { store, clock, log, wake } = deps
  const matchingFilters = createMatchingFilters(store)
  let lastPos = 0
  /** Events up to this position are gone from the store. */
  let removedUpTo = 0
  let saved = 0
  const untold = new Set<number>()
  let cancel: (() => void) | undefined
  const underWay = new Set<Promise<unknown>>()
  /** Tasks that look back. */
  const looking = new Map<string, Promise<void>>()

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    work.catch(() => undefined).finally(() => underWay.delete(work))
    return work
  }

  async function emit(
    tenant: string,
    events: readonly CloudEvent[],
  ): Promise<readonly { readonly fresh: boolean }[]> {
    const receivedAt = clock.now()
    const places = await store.appendEvents(tenant, events, receivedAt)
    for (const { pos } of places) lastPos = Math.max(lastPos, pos)
    const fresh = places.flatMap(({ pos, fresh: isNew }, index) => {
      const event = events[index]
      return isNew && event !== undefined ? [{ pos, tenant, receivedAt, event }] : []
    })
    await track(dispatchAll(fresh))
    return places
  }

  /** Tells everyone who waits; what could not be told now is tried again, and the cursor stays before it. */
  async function dispatchAll(events: readonly StoredEvent[]): Promise<void> {
    for (const { pos } of events) untold.add(pos)
    for (const event of events) {
      try {
        await dispatch(event)
        untold.delete(event.pos)
      } catch (error) {
        log('error', 'an event could not be told to everyone; trying again', {
          pos: event.pos,
          error,
        })
        clock.after(RETRY_MS, () => {
          track(dispatchAll([event])).catch(() => undefined)
        })
      }
    }
    cancel ??= clock.after(CURSOR_MS, () => {
      cancel = undefined
      track(save()).catch(() => undefined)
    })
  }

  async function dispatch(event: StoredEvent): Promise<void> {
    await tellAll(event, [...namesOf(event.event), ANY_NAME])
    for await (const names of matchingFilters(event)) {
      for (let from = 0; from < names.length; from += NAMES) {
        await tellAll(event, names.slice(from, from + NAMES))
      }
    }
  }

  /** Page by page: other work of the process goes on between two of them. */
  async function tellAll(event: StoredEvent, names: readonly string[]): Promise<void> {
    let after = ''
    for (;;) {
      const page = await store.waiting(event.tenant, names, after, PAGE)
      await Promise.all(page.map((taskId) => tell(taskId, event)))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = last
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function tell(taskId: string, event: StoredEvent): Promise<void> {
    const mayTake = (): boolean => !looking.has(taskId)
    while ((await wake(taskId, event, mayTake, removedUpTo)) === 'not now')
      await looking.get(taskId)
  }

  function mayHaveMissed({ suspension }: Task): boolean {
    if (suspension === undefined || lastPos <= suspension.eventsAfter) return false
    return waitNames(suspension.conditions).length > 0
  }

  async function lookBack(task: Task): Promise<void> {
    const { suspension } = task
    if (suspension === undefined || !mayHaveMissed(task)) return
    const look = track(search(task, suspension))
    const over = look
      .catch(() => undefined)
      .then(() => {
        if (looking.get(task.id) === over) looking.delete(task.id)
      })
    looking.set(task.id, over)
    await look
  }

  async function search(task: Task, suspension: Suspension): Promise<void> {
    const names = waitNames(suspension.conditions)
    const wanted = waitForAnyType(names) ? undefined : names
    // What woke it meanwhile ended this look: the next stop has its own.
    const mayTake = (now: Task | undefined): boolean =>
      now?.suspension?.handle === suspension.handle
    let after = suspension.eventsAfter
    for (;;) {
      const page = await store.events(task.tenant, after, PAGE, wanted)
      for (const event of page) {
        if (!wakesOn(task, event.event, event.pos)) continue
        if ((await wake(task.id, event, mayTake, removedUpTo)) !== 'not taken') return
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = last.pos
    }
  }

  async function removed(): Promise<void> {
    // Read before the store is asked: an event that is stored meanwhile is not gone.
    const newest = lastPos
    const [oldest] = await store.events(undefined, 0, 1)
    removedUpTo = oldest === undefined ? newest : oldest.pos - 1
  }

  async function save(): Promise<void> {
    // Everything up to here was told: what is still under way keeps the cursor back.
    const reached = Math.min(lastPos, ...[...untold].map((pos) => pos - 1))
    if (reached <= saved) return
    try {
      await store.setValue(CURSOR, reached)
      saved = reached
    } catch (error) {
      log('warn', 'the event cursor could not be saved', { error })
    }
  }

  async function start(lookBacks: () => Promise<void>): Promise<void> {
    lastPos = await store.lastEventPos()
    await removed()
    await lookBacks()
    const cursor = await store.getValue(CURSOR)
    saved = typeof cursor === 'number' ? cursor : 0
    let after = saved
    for (;;) {
      const page = await store.events(undefined, after, PAGE)
      await dispatchAll(page)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = last.pos
    }
  }

  async function stop(): Promise<void> {
    cancel?.()
    cancel = undefined
    await Promise.allSettled(underWay)
    await save()
  }

  return { emit, mayHaveMissed, lookBack, lastPos: () => lastPos, removed, start, stop }
}
