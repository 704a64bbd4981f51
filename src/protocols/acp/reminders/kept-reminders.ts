import type { JsonObject } from '../../../core/json.ts'
import type { ReminderRequest } from '../../../engine/requests.ts'

/** A reminder that waits in a session for its next task. */
export type KeptReminder = ReminderRequest & { readonly id: string }

export function keptIn(session: {
  readonly reminders?: readonly JsonObject[]
}): readonly KeptReminder[] {
  return (session.reminders ?? []) as unknown as readonly KeptReminder[]
}
