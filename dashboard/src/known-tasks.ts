/** The tasks that the page keeps, as pure functions. */
import type { TaskSummary } from '../../src/wire/ops/tasks.ts'

/** With the instant of this page's clock at which the task falls due, so that a wrong wall clock does no harm. */
export interface Known extends TaskSummary {
  readonly dueOnPage?: number
}

export type KnownTasks = ReadonlyMap<string, Known>

/** More tasks than this are not kept. A column shows the newest 50. */
export const MOST_KNOWN = 1_000
const KEPT_PER_STATE = 80

/** T1. @param now of the page's monotonic clock */
export function merged(known: KnownTasks, tasks: readonly TaskSummary[], now: number): KnownTasks {
  const next = new Map(known)
  for (const task of tasks) {
    if ((next.get(task.taskId)?.version ?? 0) > task.version) continue
    const { remainingMs } = task
    const due = remainingMs === undefined ? {} : { dueOnPage: now + remainingMs }
    next.set(task.taskId, { ...task, ...due })
  }
  return next
}

/** T3: keeps the newest of each state, and the task that is shown. */
export function pruned(known: KnownTasks, shown: string | undefined): KnownTasks {
  if (known.size <= MOST_KNOWN) return known
  const kept = new Map<string, Known>()
  const perState = new Map<string, number>()
  for (const task of newestFirst(known)) {
    const count = perState.get(task.state) ?? 0
    if (count >= KEPT_PER_STATE && task.taskId !== shown) continue
    perState.set(task.state, count + 1)
    kept.set(task.taskId, task)
  }
  return kept
}

/** What the page knows and what a search found. Of two summaries of a task the newer one is shown. */
export function withHits(known: readonly Known[], hits: KnownTasks): readonly Known[] {
  if (hits.size === 0) return known
  const all = new Map(hits)
  for (const task of known) {
    if ((all.get(task.taskId)?.version ?? 0) <= task.version) all.set(task.taskId, task)
  }
  return newestFirst(all)
}

export function newestFirst(known: KnownTasks): readonly Known[] {
  return [...known.values()].sort((a, b) => (a.since < b.since ? 1 : -1))
}
