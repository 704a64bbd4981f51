/** A task at every moment of its life, out of its log. */
import { evolve } from '../../../src/core/evolve.ts'
import type { LogRecord } from '../../../src/core/records.ts'
import type { Task } from '../../../src/core/task.ts'

export interface Moment {
  readonly task: Task
  readonly record: LogRecord
  /** From when it was so. */
  readonly from: number
  /** Until when; nothing ends the last one. */
  readonly until: number
}

export type Timeline = readonly Moment[]

export function timelineOf(log: readonly LogRecord[]): Timeline {
  const moments: Moment[] = []
  let task: Task | undefined
  for (const [index, record] of log.entries()) {
    task = evolve(task, record)
    const until = log[index + 1]?.at ?? Number.POSITIVE_INFINITY
    moments.push({ task, record, from: record.at, until })
  }
  return moments
}

/** Whether it was so at some moment between the two instants. */
export function everBetween(
  timeline: Timeline,
  start: number,
  end: number,
  holds: (task: Task) => boolean,
): boolean {
  return timeline.some(({ from, until, task }) => from <= end && until >= start && holds(task))
}
