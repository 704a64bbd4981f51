/**
 * The events that a record of the log has for readers of the task. The list is the same for every version, binding and
 * webhook, so that all readers see the same events in the same order (A2A 1.0 §3.5.2). Codecs serialise them.
 */
import type { TextChunk } from '../../core/live-text.ts'
import type { Artifact } from '../../core/message.ts'
import type { LogRecord, RecordType } from '../../core/records.ts'
import type { ExpiryReason, Reminder } from '../../core/reminders.ts'
import type { Task } from '../../core/task.ts'

export type ReminderChange =
  | { readonly event: 'emitted'; readonly reminder: Reminder }
  | {
      readonly event: 'deduped'
      readonly dedupeKey: string
      readonly by: string
      readonly displaced: readonly string[]
    }
  /** Only the log still has the text of the reminder. The task does not. */
  | { readonly event: 'expired'; readonly reminderId: string; readonly reason: ExpiryReason }

export type TaskEvent =
  /** `task` is the task after the record, `before` the task before it. */
  | {
      readonly kind: 'status'
      readonly task: Task
      readonly before: Task | undefined
      readonly record: LogRecord
    }
  | {
      readonly kind: 'artifact'
      readonly task: Task
      readonly artifact: Artifact
      readonly append: boolean
      readonly last: boolean
      /** The state of a step's stream. */
      readonly stream?: TextChunk['state']
    }
  | { readonly kind: 'reminder'; readonly task: Task; readonly change: ReminderChange }

const none: readonly TaskEvent[] = []

/** Record types with a status event. Of the others only artifacts and reminders have events. */
const reports: ReadonlySet<RecordType> = new Set<RecordType>([
  'submitted',
  'said',
  'asked',
  'asked-again',
  'answered',
  'paused',
  'parked',
  'resumed',
  'pause-withdrawn',
  'completed',
  'failed',
  'canceled',
  'rejected',
])

export function chunkEvent(task: Task, { artifact, append, last, state }: TextChunk): TaskEvent {
  return { kind: 'artifact', task, artifact, append, last, stream: state }
}

export function eventsOf(
  before: Task | undefined,
  record: LogRecord,
  task: Task,
): readonly TaskEvent[] {
  switch (record.type) {
    case 'artifact': {
      const { artifact, append, last, attempt } = record
      const stream = attempt === undefined ? {} : { stream: 'recorded' as const }
      return [{ kind: 'artifact', task, artifact, append, last, ...stream }]
    }
    case 'turn-started':
    case 'reminders-shown':
      return record.reminders
        .filter((reminder) => record.emitted.includes(reminder.id))
        .map((reminder) => ({ kind: 'reminder', task, change: { event: 'emitted', reminder } }))
    case 'reminder-deduped': {
      const { dedupeKey, by, ids } = record
      return [
        { kind: 'reminder', task, change: { event: 'deduped', dedupeKey, by, displaced: ids } },
      ]
    }
    case 'reminder-expired':
      return record.ids.map((reminderId) => ({
        kind: 'reminder',
        task,
        change: { event: 'expired', reminderId, reason: record.reason },
      }))
    case 'pause-requested':
      // A pause that is committed at once has the event of its commit.
      return record.quiesces ? [{ kind: 'status', task, before, record }] : none
    case 'started':
      // Another claim of a working task does not change its status.
      return before?.state === task.state ? none : [{ kind: 'status', task, before, record }]
    default:
      return reports.has(record.type) ? [{ kind: 'status', task, before, record }] : none
  }
}
