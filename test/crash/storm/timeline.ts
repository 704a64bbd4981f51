/** A task at every moment of its life, out of its log. */
import { evolve } from '../../../src/core/evolve.ts'
import type { LogRecord } from '../../../src/core/records.ts'
import type { Task } from '../../../src/core/task.ts'

export interface Moment {
  readonly task: Task
  readonly record: LogRecord
  /** From when it was so: when it was decided. */
  readonly from: number
  /** Until when it may still have been so for others: see `withAcknowledgements`. Nothing ends the last one. */
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

/** Somebody was told that the record is there. */
export interface Acknowledgement {
  readonly seq: number
  readonly at: number
}

/** A write that is decided takes this long at most until it is durable, also where many processes share a machine. */
const WRITE_MS = 5_000

/**
 * What was decided is shown when it is durable, and that is later than the time in the record: until then others rightly
 * see what was before. From the moment anybody was told of it, nobody may.
 */
export function withAcknowledgements(
  timeline: Timeline,
  acknowledgements: readonly Acknowledgement[],
): Timeline {
  const toldOf = new Map<number, number>()
  for (const { seq, at } of acknowledgements) {
    toldOf.set(seq, Math.min(at, toldOf.get(seq) ?? Number.POSITIVE_INFINITY))
  }
  let told = Number.POSITIVE_INFINITY
  const moments = timeline.map((moment) => ({ ...moment }))
  for (const [index, moment] of [...moments.entries()].reverse()) {
    const next = timeline[index + 1]
    if (next !== undefined) {
      told = Math.min(told, toldOf.get(next.record.seq) ?? Number.POSITIVE_INFINITY)
      moments[index] = { ...moment, until: Math.min(told, next.from + WRITE_MS) }
    }
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
