/**
 * Offers an event to a task. Most events do not match, so the task's conditions are compared before
 * a command is queued. `decide` compares them again on the state that it decides on.
 */

import { wakesOn } from '../../core/decide/waking.ts'
import type { Task } from '../../core/task.ts'
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
import type { Runs } from '../executor/runs.ts'
import type { Ledger } from '../ledger/ledger.ts'

/**
 * `taken`: the event woke the task, or is stored as its next wake. `not now`: `mayTake` rejected
 * the state.
 */
export type Offered = 'taken' | 'not taken' | 'not now'

export type WakeByEvent = (
  taskId: string,
  event: StoredEvent,
  mayTake: (task: Task | undefined) => boolean,
  /** Events up to this position were removed from the store. */
  removedUpTo: () => number,
) => Promise<Offered>

/** A position that no event has, so `decide` ignores it. */
const NO_POSITION = 0

export function createWakeByEvent(deps: {
  readonly ledger: Pick<Ledger, 'read'>
  readonly runs: Pick<Runs, 'commit'>
}): WakeByEvent {
  const { ledger, runs } = deps
  return async (taskId, { event, pos }, mayTake, removedUpTo) => {
    const found = await ledger.read(taskId)
    if (found === undefined || !wakesOn(found, event, pos)) return 'not taken'
    let refused = false
    const { records } = await runs.commit(taskId, found, (task, run) => {
      refused = !mayTake(task)
      const at = refused ? NO_POSITION : pos
      return {
        type: 'event',
        event,
        pos: at,
        removedUpTo: removedUpTo(),
        ...(run === undefined ? {} : { run }),
      }
    })
    if (refused) return 'not now'
    return records.length > 0 ? 'taken' : 'not taken'
  }
}
