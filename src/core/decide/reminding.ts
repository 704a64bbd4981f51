/** Reminders from outside. */
import type { Command, ReminderFilter } from '../commands.ts'
import { refuse } from '../errors.ts'
import type { RecordBody } from '../records.ts'
import type { Reminder } from '../reminders.ts'
import type { Task } from '../task.ts'
import { type Decided, nothing, whileOpen, write } from './decided.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

export function remind(task: Task, command: Of<'remind'>): Decided {
  return whileOpen(task, () => {
    const { reminder, limit } = command
    const pending = task.reminders.map((item) => item.reminder)
    const same = pending.find((known) => known.id === reminder.id)
    if (same !== undefined) {
      if (same.body === reminder.body) return nothing
      const problem = 'is taken by a pending reminder with another body'
      return refuse('INVALID_INPUT', { path: 'reminder.id', problem })
    }
    const { dedupeKey } = reminder
    const displaced =
      dedupeKey === undefined ? [] : pending.filter((known) => known.dedupeKey === dedupeKey)
    if (pending.length - displaced.length >= limit) {
      return refuse('REMINDER_LIMIT', { taskId: task.id, limit })
    }
    const injected: RecordBody = { type: 'reminder-injected', reminder }
    if (dedupeKey === undefined || displaced.length === 0) return write(injected)
    const ids = displaced.map((known) => known.id)
    return write({ type: 'reminder-deduped', ids, by: reminder.id, dedupeKey }, injected)
  })
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
