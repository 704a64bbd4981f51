/** Offers an event to one task that may wait for it (V3 of `events.ts`). */

import { wakesOn } from '../../../core/decide/waking.ts'
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { LookBacks, Wake } from './look-back.ts'

export type OfferEvent = (taskId: string, event: StoredEvent) => Promise<void>

/** @param mayBeOlder whether the store may have older events that were not offered to the task */
export function createOfferEvent(deps: {
  readonly ledger: Pick<Ledger, 'read'>
  readonly lookBacks: Pick<LookBacks, 'inProgress' | 'lookBack'>
  readonly wake: Wake
  readonly mayBeOlder: () => boolean
}): OfferEvent {
  const { ledger, lookBacks, wake, mayBeOlder } = deps

  async function offer(taskId: string, event: StoredEvent): Promise<void> {
    const mayTake = (): boolean => lookBacks.inProgress(taskId) === undefined
    while ((await wake(taskId, event, mayTake)) === 'not now') await lookBacks.inProgress(taskId)
  }

  /** Lets the task take the oldest matching event, which may be another one. */
  async function offerOldest(taskId: string, { event, pos }: StoredEvent): Promise<void> {
    const task = await ledger.read(taskId)
    if (task !== undefined && wakesOn(task, event, pos)) await lookBacks.lookBack(task)
  }

  return (taskId, event) => (mayBeOlder() ? offerOldest : offer)(taskId, event)
}
