/**
 * The events of a record for readers of the task. The list is the same for every version, binding
 * and webhook, so that all readers see the same events in the same order (A2A 1.0 §3.5.2). Codecs
 * serialise them.
 */
import type { TextChunk } from '../../../core/messages/live-text.ts'
import type { Artifact } from '../../../core/messages/message.ts'
import { resultOf } from '../../../core/messages/result-artifact.ts'
import type { LogRecord, RecordType } from '../../../core/records.ts'
import type { ExpiryReason, Reminder } from '../../../core/reminders/reminders.ts'
import type { Task } from '../../../core/task.ts'

export type ReminderChange =
  | { readonly event: 'emitted'; readonly reminder: Reminder }
  | {
      readonly event: 'deduped'
      readonly dedupeKey: string
      readonly by: string
      readonly displaced: readonly string[]
    }
  /**
   * Contains only the id, because the task no longer has the reminder; its text is only in the log.
   */
  | { readonly event: 'expired'; readonly reminderId: string; readonly reason: ExpiryReason }

export type TaskEvent =
  /** `task` is the task after the record, and `before` the one before it. */
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
      /** The artifact repeats the status message of the ended task. Codecs without result artifacts have no frame for it. */
      readonly isResult?: true
    }
  | { readonly kind: 'reminder'; readonly task: Task; readonly change: ReminderChange }

const none: readonly TaskEvent[] = []

export function chunkEvent(task: Task, { artifact, append, last, state }: TextChunk): TaskEvent {
  return { kind: 'artifact', task, artifact, append, last, stream: state }
}

export function eventsOf(
  before: Task | undefined,
  record: LogRecord,
  task: Task,
): readonly TaskEvent[] {
  return (events[record.type] as EventsOf<RecordType>)(record, task, before)
}

type EventsOf<T extends RecordType> = (
  record: LogRecord & { readonly type: T },
  task: Task,
  before: Task | undefined,
) => readonly TaskEvent[]

const status: EventsOf<RecordType> = (record, task, before) => [
  { kind: 'status', task, before, record },
]

const silent: EventsOf<RecordType> = () => none

/** The result precedes the status that ends the task, because nothing follows that status. */
const completed: EventsOf<'completed'> = (record, task, before) => {
  const artifact = resultOf(task)
  const ended = status(record, task, before)
  if (artifact === undefined) return ended
  return [{ kind: 'artifact', task, artifact, append: false, last: true, isResult: true }, ...ended]
}

const emitted: EventsOf<'turn-started' | 'reminders-shown'> = (record, task) =>
  record.reminders
    .filter((reminder) => record.emitted.includes(reminder.id))
    .map((reminder) => ({ kind: 'reminder', task, change: { event: 'emitted', reminder } }))

const events: { readonly [T in RecordType]: EventsOf<T> } = {
  submitted: status,
  // If another run takes over a working task, the status does not change.
  started: (record, task, before) =>
    before?.state === task.state ? none : status(record, task, before),
  released: silent,
  message: silent,
  said: status,
  artifact: ({ artifact, append, last, attempt }, task) => {
    const stream = attempt === undefined ? {} : { stream: 'recorded' as const }
    return [{ kind: 'artifact', task, artifact, append, last, ...stream }]
  },

  asked: status,
  'asked-again': status,
  answered: status,
  // A pause that commits at once has only the event of its commit.
  'pause-requested': (record, task, before) =>
    record.quiesces ? status(record, task, before) : none,
  'pause-upgraded': silent,
  'pause-kept': silent,
  'pause-withdrawn': status,
  paused: status,
  parked: status,
  resumed: status,
  deferred: silent,
  held: silent,
  lifted: silent,

  'turn-started': emitted,
  'reminders-shown': emitted,
  'reminder-injected': silent,
  'reminder-deduped': ({ dedupeKey, by, ids: displaced }, task) => [
    { kind: 'reminder', task, change: { event: 'deduped', dedupeKey, by, displaced } },
  ],
  'reminder-expired': ({ ids, reason }, task) =>
    ids.map((reminderId) => ({
      kind: 'reminder',
      task,
      change: { event: 'expired', reminderId, reason },
    })),

  completed,
  failed: status,
  canceled: status,
  rejected: status,

  step: silent,
  attempt: silent,
  abandoned: silent,
  'not-awaited': silent,
  skipped: silent,
  usage: silent,
  value: silent,
  'turn-ended': silent,
  compacted: silent,
  delegated: silent,
  'child-ended': silent,
  'child-called': silent,
  continued: silent,
  voided: silent,
  receipt: silent,
  imported: silent,
  forked: silent,
}
