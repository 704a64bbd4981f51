/** Reminders that wait in a session for its next task. The row of the session stores them as JSON. */
import type { JsonObject } from '../../../core/values/json.ts'
import { reminderInput } from '../../../engine/input/inputs.ts'
import { parse } from '../../../engine/input/parse.ts'
import type { ReminderRequest } from '../../../engine/input/requests.ts'

export type KeptReminder = ReminderRequest & { readonly id: string }

interface StoredReminders {
  readonly reminders?: readonly JsonObject[]
}

export function keptIn({ reminders = [] }: StoredReminders): readonly KeptReminder[] {
  return reminders.map((stored) => {
    const { id = '', ...reminder } = parse(reminderInput, stored, 'reminder')
    return { ...reminder, id }
  })
}

export function withKept(reminders: readonly KeptReminder[]): Required<StoredReminders> {
  return { reminders: JSON.parse(JSON.stringify(reminders)) }
}
