/**
 * Work that many readers of one task share. A record that is published live is the same object for all of them, so it is
 * folded once and each of its events is spelled once per codec, however many streams carry it.
 */
import { evolve } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Codec } from './codec/codec.ts'
import { eventsOf, type TaskEvent } from './task-events.ts'

export interface Folded {
  readonly task: Task
  readonly events: readonly TaskEvent[]
}

export interface FanOut {
  fold(before: Task | undefined, record: LogRecord): Folded
  /** The event as JSON; undefined where the codec has no frame for it. */
  text(codec: Codec, event: TaskEvent, closes: boolean): string | undefined
}

export function createFanOut(): FanOut {
  const folds = new WeakMap<LogRecord, Folded>()
  const texts = new WeakMap<TaskEvent, Map<string, string | undefined>>()

  return {
    fold(before, record) {
      const known = folds.get(record)
      if (known !== undefined) return known
      const task = evolve(before, record)
      const folded = { task, events: eventsOf(before, record, task) }
      folds.set(record, folded)
      return folded
    },
    text(codec, event, closes) {
      const known = texts.get(event) ?? new Map<string, string | undefined>()
      texts.set(event, known)
      const key = `${codec.name}${closes ? '!' : ''}`
      if (known.has(key)) return known.get(key)
      const frame = codec.event(event, closes)
      const text = frame === undefined ? undefined : JSON.stringify(frame)
      known.set(key, text)
      return text
    },
  }
}
