/** The parameters of `_session/reminder` for every change of a reminder. */

import type { LogRecord } from '../../../core/records.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'

/** Without `sessionId`. Empty for a record that changes no reminder. */
export function reminderChanges(record: LogRecord): readonly JsonObject[] {
  switch (record.type) {
    case 'turn-started':
    case 'reminders-shown':
      return record.reminders
        .filter(({ id }) => record.emitted.includes(id))
        .map((reminder) => ({ event: 'emitted', reminder: factsOf(reminder) }))
    case 'reminder-deduped': {
      const { dedupeKey, by, ids } = record
      return [{ event: 'deduped', dedupeKey, by, displaced: [...ids] }]
    }
    case 'reminder-expired':
      return record.ids.map((reminderId) => ({
        event: 'expired',
        reminderId,
        reason: record.reason,
      }))
    default:
      return []
  }
}

function factsOf({ acceptedAt, ...reminder }: Reminder): JsonObject {
  return { ...reminder, tags: [...reminder.tags], acceptedAt: toIso(acceptedAt) } as JsonObject
}
