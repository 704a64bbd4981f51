import type { Reminder } from '../../../core/reminders/reminders.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { ReminderRequest } from '../../input/requests.ts'

/** Fills in the defaults of a reminder (docs/reminders.md). */
export function toReminder(
  given: ReminderRequest,
  mintedId: string,
  acceptedAt: number,
  metadata?: JsonObject,
): Reminder {
  const { dedupeKey, ttlTurns, source, firedAtTurn } = given
  return {
    id: given.id ?? mintedId,
    body: given.body,
    tags: given.tags ?? [],
    ...(dedupeKey == null ? {} : { dedupeKey }),
    ...(ttlTurns == null ? {} : { ttlTurns }),
    preserveOnCompact: given.preserveOnCompact ?? false,
    propagate: given.propagate ?? 'session',
    roleHint: given.roleHint ?? 'system',
    ...(source == null ? {} : { source }),
    ...(firedAtTurn == null ? {} : { firedAtTurn }),
    mode: given.mode ?? 'finish_step',
    ...(metadata === undefined ? {} : { metadata }),
    acceptedAt,
  }
}
