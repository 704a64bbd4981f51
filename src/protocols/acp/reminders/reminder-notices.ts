/** The parameters of `_session/reminder` for every change of a reminder. */

import type { LogRecord, RecordType } from '../../../core/records.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'

type Of<T extends RecordType> = LogRecord & { readonly type: T }

const none = (): readonly JsonObject[] => []

const changes: { readonly [T in RecordType]: (record: Of<T>) => readonly JsonObject[] } = {
  'turn-started': emitted,
  'reminders-shown': emitted,
  'reminder-deduped': ({ dedupeKey, by, ids }) => [
    { event: 'deduped', dedupeKey, by, displaced: [...ids] },
  ],
  'reminder-expired': ({ ids, reason }) =>
    ids.map((reminderId) => ({ event: 'expired', reminderId, reason })),

  submitted: none,
  delegated: none,
  started: none,
  released: none,
  message: none,
  said: none,
  artifact: none,
  usage: none,
  step: none,
  value: none,
  attempt: none,
  'child-called': none,
  abandoned: none,
  'not-awaited': none,
  skipped: none,
  'child-ended': none,
  'turn-ended': none,
  compacted: none,
  continued: none,
  voided: none,
  asked: none,
  'asked-again': none,
  answered: none,
  deferred: none,
  'pause-requested': none,
  'pause-upgraded': none,
  'pause-kept': none,
  'pause-withdrawn': none,
  paused: none,
  parked: none,
  resumed: none,
  held: none,
  lifted: none,
  'reminder-injected': none,
  completed: none,
  failed: none,
  rejected: none,
  canceled: none,
  receipt: none,
  imported: none,
  forked: none,
}

/** The changes without `sessionId`. Empty for a record that changes no reminder. */
export function reminderChanges(record: LogRecord): readonly JsonObject[] {
  const read = changes[record.type] as (record: LogRecord) => readonly JsonObject[]
  return read(record)
}

function emitted(shown: Of<'turn-started' | 'reminders-shown'>): readonly JsonObject[] {
  return shown.reminders
    .filter(({ id }) => shown.emitted.includes(id))
    .map((reminder) => ({ event: 'emitted', reminder: factsOf(reminder) }))
}

function factsOf({ acceptedAt, ...reminder }: Reminder): JsonObject {
  return { ...reminder, tags: [...reminder.tags], acceptedAt: toIso(acceptedAt) } as JsonObject
}
