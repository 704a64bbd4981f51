/**
 * Work that is shared by all readers of one task. Every reader gets the same batch object, so a
 * batch is folded once, and each of its events is serialised once per codec, for any number of
 * streams.
 */

import { evolve } from '../../../core/evolve.ts'
import type { TextChunk } from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { RecordBatch } from '../../../engine/streams/log-reader.ts'
import { type Codec, wholeTask } from '../codec/codec.ts'
import { chunkEvent, eventsOf, type TaskEvent } from './task-events.ts'

/** A record, the task before and after it, and its events. */
export interface Folded {
  readonly record: LogRecord
  readonly before: Task | undefined
  readonly task: Task
  readonly events: readonly TaskEvent[]
}

/** Serialises an event. Undefined if the codec has no frame for it. */
export type Spell = (codec: Codec, event: TaskEvent, closes: boolean) => string | undefined

export interface FanOut {
  fold(before: Task | undefined, batch: RecordBatch): readonly Folded[]
  readonly spell: Spell
  /**
   * Serialises a chunk. Readers at the same position get the same chunk object, so its text is
   * reused.
   */
  spellChunk(codec: Codec, chunk: TextChunk, task: Task): string | undefined
}

export function createFanOut(): FanOut {
  const folds = new WeakMap<RecordBatch, readonly Folded[]>()
  const texts = new WeakMap<TaskEvent, Map<string, string | undefined>>()
  const chunks = new WeakMap<TextChunk, TaskEvent>()

  function textsOf(event: TaskEvent): Map<string, string | undefined> {
    const known = texts.get(event) ?? new Map<string, string | undefined>()
    texts.set(event, known)
    return known
  }

  const spell: Spell = (codec, event, closes) => {
    const known = textsOf(event)
    const key = closes ? `${codec.name}!` : codec.name
    if (known.has(key)) return known.get(key)
    const text = spellOnce(codec, event, closes)
    known.set(key, text)
    return text
  }

  return {
    fold(before, batch) {
      const known = folds.get(batch)
      if (known !== undefined) return known
      const folded = foldRecords(before, batch.records)
      folds.set(batch, folded)
      return folded
    },
    spell,
    spellChunk(codec, chunk, task) {
      const event = chunks.get(chunk) ?? chunkEvent(task, chunk)
      chunks.set(chunk, event)
      return spell(codec, event, false)
    },
  }
}

/** Serialises events that only one reader gets. */
export const spellOnce: Spell = (codec, event, closes) => {
  const frame = codec.event(event, closes)
  return frame === undefined ? undefined : JSON.stringify(frame)
}

/** @param latest the task after the last record, if known */
export function foldRecords(
  before: Task | undefined,
  records: readonly LogRecord[],
  latest?: Task,
): readonly Folded[] {
  const folded: Folded[] = []
  let now = before
  for (const record of records) {
    const last = now
    const task: Task = record.seq === latest?.version ? latest : evolve(last, record)
    folded.push({ record, before: last, task, events: eventsOf(last, record, task) })
    now = task
  }
  return folded
}

/** Caches whole tasks as JSON. A task object is immutable, so its text can be reused until the next version. */
export type TaskTexts = (codec: Codec, task: Task) => string

/**
 * Longer texts are not cached: they would double the memory of large tasks, while rendering them
 * costs little compared to sending.
 */
const LONGEST = 65_536

/** Creates the cache. A text is freed together with its task. */
export function createTaskTexts(): TaskTexts {
  const byCodec = new Map<string, WeakMap<Task, string>>()

  function textsOf({ name }: Codec): WeakMap<Task, string> {
    const known = byCodec.get(name) ?? new WeakMap<Task, string>()
    byCodec.set(name, known)
    return known
  }

  return (codec, task) => {
    const texts = textsOf(codec)
    const known = texts.get(task)
    if (known !== undefined) return known
    const text = JSON.stringify(codec.task(task, wholeTask))
    if (text.length <= LONGEST) texts.set(task, text)
    return text
  }
}
