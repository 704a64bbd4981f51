/**
 * What happens after every durable write, in log order per task, by this process and, on a shared
 * store, by others. Also what happens when a task is found unreadable.
 */

import { isTerminal } from '../../core/states.ts'
import { nextDueAt } from '../../core/waiting/due.ts'
import type { Log } from '../../ports/log.ts'
import type { Meter } from '../../ports/meter.ts'
import type { Runs } from '../executor/runs.ts'
import { measure } from '../observe/measure.ts'
import { logPolicyStops } from '../observe/task-log.ts'
import type { SharedTexts } from '../streams/shared-texts.ts'
import type { Subscriptions } from '../streams/subscriptions.ts'
import type { FollowUps, FollowUpWork } from '../upkeep/follow-ups.ts'
import type { Events } from '../wakes/events.ts'
import type { Timers } from '../wakes/timers.ts'
import type { LedgerDeps } from './ledger.ts'

export type Publishing = Pick<LedgerDeps, 'published' | 'learned' | 'foundUnreadable'>

export function createPublishing(deps: {
  readonly log: Log
  readonly meter: Meter
  readonly runs: Runs
  readonly subscriptions: Subscriptions
  readonly timers: Timers
  readonly events: Events
  readonly followUps: FollowUps
  readonly work: Pick<FollowUpWork, 'stopped' | 'ended'>
  /** Exchanges the live text of tasks with other processes. Present in a shared store. */
  readonly texts: Pick<SharedTexts, 'observe'> | undefined
}): Publishing {
  const { log, meter, runs, subscriptions, timers, events, followUps, work, texts } = deps

  const learned: LedgerDeps['learned'] = (task, records, before) => {
    runs.observe(task, records)
    subscriptions.publish(task, records, before)
    texts?.observe(task)
    const dueAt = nextDueAt(task)
    if (dueAt !== undefined) timers.at(dueAt)
    if (isTerminal(task.state)) runs.childEnded(task)
  }

  return {
    learned,
    foundUnreadable(task) {
      subscriptions.notify(task)
      runs.childEnded(task)
    },
    published(task, records, before) {
      logPolicyStops(log, task, records)
      measure(meter, task, records, before)
      learned(task, records, before)
      const stops = records.some(({ type }) => type === 'parked' || type === 'paused')
      if (stops && (events.mayHaveMissed(task) || task.suspension?.children !== undefined)) {
        followUps.add(task, work.stopped).catch(() => undefined)
      }
      if (isTerminal(task.state) && task.parentId !== undefined) {
        followUps.add(task, work.ended).catch(() => undefined)
      }
    },
  }
}
