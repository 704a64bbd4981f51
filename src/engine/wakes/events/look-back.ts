/**
 * After a task has stopped, looks for matching events that arrived before the stop was durable and
 * that the task has not consumed.
 */

import { wakesOn } from '../../../core/decide/waking.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import { waitForAnyType, waitNames } from '../../../core/waiting/conditions.ts'
import type { EventStore } from '../../../ports/store/events.ts'
import type { PendingWork } from '../../executor/pending-work.ts'
import type { Offered } from '../wake-by-event.ts'

export interface LookBacks {
  /** Whether events may have come before the stop of this task was durable. */
  readonly mayHaveMissed: (task: Task) => boolean
  /** Wakes the task with the oldest matching event, if any. */
  readonly lookBack: (task: Task) => Promise<void>
  /** The search in progress for the task, if any. Never rejects. */
  readonly inProgress: (taskId: string) => Promise<void> | undefined
}

/**
 * Offers the event to the task, unless `mayTake` rejects the current state of the task. `lost`: the
 * store may have lost the event since it was read.
 */
export type Wake = (
  taskId: string,
  event: StoredEvent,
  mayTake: (task: Task | undefined) => boolean,
) => Promise<Offered | 'lost'>

const PAGE = 256

export function createLookBacks(deps: {
  readonly store: Pick<EventStore, 'events'>
  readonly wake: Wake
  readonly lastPos: (tenant: string) => number
  /** Called when events of the tenant up to this position are known to exist. */
  readonly advance: (tenant: string, pos: number) => void
  /**
   * In a shared store: reads the position of the tenant's newest event, so that events of other processes
   * are known.
   */
  readonly refresh: (tenant: string) => Promise<number> | undefined
  readonly isShared: boolean
  readonly pending: PendingWork
}): LookBacks {
  const { store, wake, lastPos, advance, refresh, isShared, pending } = deps
  const searches = new Map<string, Promise<void>>()

  function mayHaveMissed({ tenant, suspension }: Task): boolean {
    if (suspension === undefined || waitNames(suspension.conditions).length === 0) return false
    // If other processes append events, only the store knows the newest one.
    return isShared || lastPos(tenant) > suspension.eventsAfter
  }

  async function lookBack(task: Task): Promise<void> {
    const { suspension } = task
    if (suspension === undefined || waitNames(suspension.conditions).length === 0) return
    const refreshing = refresh(task.tenant)
    const newest = refreshing === undefined ? lastPos(task.tenant) : await refreshing
    if (newest <= suspension.eventsAfter) return
    const search = pending.track(wakeByOldest(task, suspension))
    const ended = search
      .catch(() => undefined)
      .then(() => {
        if (searches.get(task.id) === ended) searches.delete(task.id)
      })
    searches.set(task.id, ended)
    await search
  }

  async function wakeByOldest(task: Task, suspension: Suspension): Promise<void> {
    const names = waitNames(suspension.conditions)
    const wanted = waitForAnyType(names) ? undefined : names
    // Another wake ends this search, because the next stop of the task has a search of its own.
    const mayTake = (now: Task | undefined): boolean =>
      now?.suspension?.handle === suspension.handle
    let after = suspension.eventsAfter
    for (;;) {
      const page = await store.events(task.tenant, after, PAGE, wanted)
      const last = page.at(-1)
      if (last !== undefined) advance(task.tenant, last.pos)
      for (const event of page) {
        if (!wakesOn(task, event.event, event.pos)) continue
        const offered = await wake(task.id, event, mayTake)
        if (offered === 'lost') return wakeByOldest(task, suspension)
        if (offered !== 'not taken') return
      }
      if (last === undefined || page.length < PAGE) return
      after = last.pos
    }
  }

  return { mayHaveMissed, lookBack, inProgress: (taskId) => searches.get(taskId) }
}
