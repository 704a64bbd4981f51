/** Decides about reminders that callers and providers add. */
import type { Command, Providing, ReminderFilter } from '../commands.ts'
import { refuse } from '../errors.ts'
import { fingerprint } from '../receipts/fingerprint.ts'
import type { RecordBody } from '../records.ts'
import { type PendingReminder, type Reminder, without } from '../reminders/reminders.ts'
import type { Task } from '../task.ts'
import { type Decided, nothing, whileOpen, write } from './decided.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

/**
 * Reminder ids stay idempotent, also after the reminder is gone and after the task has ended, so a
 * caller that got no answer may repeat its request.
 */
export function remind(task: Task, command: Of<'remind'>): Decided {
  const { reminder, limit } = command
  const known = task.reminded.find(({ id }) => id === reminder.id)
  const print = known?.print ?? printOfPending(task, reminder.id)
  if (print === fingerprint(reminder.body)) return nothing
  return whileOpen(task, () => {
    if (print !== undefined) {
      const problem = 'is taken by a reminder with another body; send another id, or none'
      return refuse('INVALID_INPUT', { path: 'reminder.id', problem })
    }
    const { records, pending } = injected(task.reminders, reminder)
    if (pending.length > limit) return refuse('REMINDER_LIMIT', { taskId: task.id, limit })
    return { records }
  })
}

/**
 * Looks among the pending reminders for one that is not in the list of accepted ones. Such a
 * reminder is older than that list, or came from a provider.
 */
function printOfPending({ reminders }: Task, id: string): string | undefined {
  const known = reminders.find((item) => item.reminder.id === id)
  return known && fingerprint(known.reminder.body)
}

interface Injected {
  readonly records: readonly RecordBody[]
  readonly pending: readonly PendingReminder[]
}

/** Removes the reminders with the same `dedupeKey`, then adds the new one. */
function injected(
  pending: readonly PendingReminder[],
  reminder: Reminder,
  provider?: string,
): Injected {
  const { id: by, dedupeKey } = reminder
  const ids = pending
    .filter((item) => dedupeKey !== undefined && item.reminder.dedupeKey === dedupeKey)
    .map((item) => item.reminder.id)
  const injection: RecordBody = {
    type: 'reminder-injected',
    reminder,
    ...(ids.length === 0 ? {} : { dedupedCount: ids.length }),
    ...(provider === undefined ? {} : { provider }),
  }
  const left = [...without(pending, ids), { reminder }]
  if (dedupeKey === undefined || ids.length === 0) return { records: [injection], pending: left }
  return {
    records: [{ type: 'reminder-deduped', ids, by, dedupeKey }, injection],
    pending: left,
  }
}

/**
 * Adds the reminders of providers. One that is already pending is not added again. The limit
 * applies, except to reminders that expire after one turn, because those cannot accumulate.
 */
export function providing(
  pending: readonly PendingReminder[],
  { provided = [], limit = Number.POSITIVE_INFINITY }: Providing,
): Injected {
  return provided.reduce<Injected>(
    (sofar, { provider, reminder }) => {
      if (sofar.pending.some((item) => item.reminder.id === reminder.id)) return sofar
      const next = injected(sofar.pending, reminder, provider)
      if (next.pending.length > limit && reminder.ttlTurns !== 1) return sofar
      return { records: [...sofar.records, ...next.records], pending: next.pending }
    },
    { records: [], pending },
  )
}

export function clear(task: Task, command: Of<'clear-reminders'>): Decided {
  return whileOpen(task, () => {
    const ids = task.reminders
      .map((item) => item.reminder)
      .filter((reminder) => selected(reminder, command.filter))
      .map((reminder) => reminder.id)
    return ids.length === 0 ? nothing : write({ type: 'reminder-expired', ids, reason: 'cleared' })
  })
}

function selected(reminder: Reminder, { id, tag, dedupeKey }: ReminderFilter): boolean {
  return (
    (id === undefined || reminder.id === id) &&
    (tag === undefined || reminder.tags.includes(tag)) &&
    (dedupeKey === undefined || reminder.dedupeKey === dedupeKey)
  )
}
