/**
 * In a shared store, a decision that writes nothing has no compare-and-set that would show that it
 * is out of date. This check asks the store for the version before the callers are answered (C6 of
 * `cluster/membership.ts`).
 */
import { answerAll, rejectAll } from './answers.ts'
import type { Plan } from './plan.ts'
import { forget, move, type TaskEntry } from './task-entry.ts'

export interface DecisionCheckDeps {
  /** The version that the store has now. */
  readonly versionOf: (taskId: string) => Promise<number>
  /** Reads the store for the entry. */
  readonly load: (entry: TaskEntry) => void
  /** Called when the entry has finished its check. */
  readonly proceed: (entry: TaskEntry) => void
}

/** If the store has a later version, reads it and decides again. */
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
    // The store may have lost writes since it was asked, and the version in its answer with them.
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
