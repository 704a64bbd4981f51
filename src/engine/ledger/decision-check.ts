/**
 * In a shared store, checks a decision that writes nothing before its callers are answered. No compare-and-set tells
 * whether such a decision is out of date (C6).
 */
import { answerAll, rejectAll } from './answers.ts'
import type { Plan } from './plan.ts'
import { forget, move, type TaskEntry } from './task-entry.ts'

export interface DecisionCheckDeps {
  /** The version that the store has now. */
  readonly versionOf: (taskId: string) => Promise<number>
  /** Reads the store for the entry. */
  readonly load: (entry: TaskEntry) => void
  /** The entry has finished its check. */
  readonly proceed: (entry: TaskEntry) => void
}

/** A decision on an old version is made again after the store was read. */
export type DecisionCheck = (entry: TaskEntry, plan: Plan) => void

export function createDecisionCheck({
  versionOf,
  load,
  proceed,
}: DecisionCheckDeps): DecisionCheck {
  function compare(entry: TaskEntry, plan: Plan, stored: number): void {
    const decidedOn = entry.task?.version ?? 0
    if (stored === decidedOn && !entry.stale) {
      answerAll(plan)
      proceed(entry)
      return
    }
    // The version in the answer may be lost, too.
    entry.storedVersion = entry.stale ? 0 : stored
    entry.queue.unshift(...plan.waiting)
    if (entry.stale || stored < decidedOn) forget(entry)
    load(entry)
  }

  return (entry, plan) => {
    move(entry, 'checking')
    versionOf(entry.id).then(
      (stored) => compare(entry, plan, stored),
      (error: unknown) => {
        rejectAll(plan.waiting, error)
        proceed(entry)
      },
    )
  }
}
