/**
 * Reminders that come with a message. A new task is created with them. An existing task gets them before the message.
 */
import { LullError } from '../../../core/errors.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import type { Agent } from '../../author/agent.ts'
import type { Caller } from '../../caller.ts'
import type { EngineContext } from '../../context.ts'
import type { CheckedSendRequest } from '../../input/requests.ts'
import { checkOffered, toReminder } from '../remind/reminders.ts'

/** @throws LullError `NOT_OFFERED` or `LIMIT_EXCEEDED` */
export function sentReminders(
  { clock, admitReminders }: EngineContext,
  caller: Caller,
  agent: Agent | undefined,
  { message, idempotencyKey, reminders = [] }: CheckedSendRequest,
): readonly Reminder[] {
  if (reminders.length > 0) checkOffered(agent)
  admitReminders(caller, reminders.length)
  return reminders.map((given, index) => {
    // The id is derived from the message, so a repeated message adds no second reminder.
    const named = idempotencyKey ?? message.messageId
    const own = sha256(JSON.stringify([named, index, given.body])).slice(0, 32)
    return toReminder(given, `reminder-${own}`, clock.now())
  })
}

/** The reminders without those that a later one replaces. @throws LullError `REMINDER_LIMIT` */
export function pendingAtStart(
  { options }: EngineContext,
  taskId: string,
  reminders: readonly Reminder[],
): readonly Reminder[] {
  const left = reminders.filter(
    ({ id, dedupeKey }, index) =>
      !reminders
        .slice(index + 1)
        .some(
          (later) => later.id === id || (dedupeKey !== undefined && later.dedupeKey === dedupeKey),
        ),
  )
  const limit = options.pendingReminders
  if (left.length > limit) throw new LullError('REMINDER_LIMIT', { taskId, limit })
  return left
}
