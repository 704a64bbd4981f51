/**
 * Work that many readers of one task share. A batch that is published live is the same object for all of them, so it is
 * folded once and each of its events is spelled once per codec, however many streams carry it.
 */
import { evolve } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Batch } from '../../engine/subscriptions.ts'
import type { Codec } from './codec/codec.ts'
import { eventsOf, type TaskEvent } from './task-events.ts'

/** A record, the task before and after it, and what it tells. */
export interface Folded {
  readonly record: LogRecord
  readonly before: Task | undefined
  readonly task: Task
  readonly events: readonly Told[]
}

export interface Told {
  readonly event: TaskEvent
  /** As JSON, by codec; undefined where the codec has no frame for it. */
  readonly texts: Map<string, string | undefined>
}

export interface FanOut {
  fold(before: Task | undefined, batch: Batch): readonly Folded[]
  text(codec: Codec, told: Told, closes: boolean): string | undefined
}

export function createFanOut(): FanOut {
  const folds = new WeakMap<Batch, readonly Folded[]>()

  return {
    fold(before, batch) {
      const known = folds.get(batch)
      if (known !== undefined) return known
      const folded = foldRecords(before, batch.records)
      folds.set(batch, folded)
      return folded
    },
    text(codec, { event, texts }, closes) {
      const key = closes ? `${codec.name}!` : codec.name
      if (texts.has(key)) return texts.get(key)
      const frame = codec.event(event, closes)
      const text = frame === undefined ? undefined : JSON.stringify(frame)
      texts.set(key, text)
      return text
    },
  }
}

/** For records that one reader alone has. */
export function foldRecords(
  before: Task | undefined,
  records: readonly LogRecord[],
): readonly Folded[] {
  let now = before
  return records.map((record) => {
    const last = now
    const task = evolve(last, record)
    now = task
    const events = eventsOf(last, record, task).map((event) => ({ event, texts: new Map() }))
    return { record, before: last, task, events }
  })
}
