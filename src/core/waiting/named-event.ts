/** Reads event positions from the state of a task. */
import type { Task } from '../task.ts'

/**
 * The highest event position that the task refers to: events up to it do not count, or one of them
 * woke it.
 */
export function newestEventNamed(task: Task | undefined): number {
  if (task === undefined) return 0
  const { eventsAfter, consumed, suspension, pausing, deferred } = task
  const kept = deferred?.kind === 'wake' ? (deferred.eventPos ?? 0) : 0
  const stops = [suspension, pausing].map((stop) => stop?.eventsAfter ?? 0)
  return Math.max(eventsAfter, kept, ...stops, ...consumed)
}
