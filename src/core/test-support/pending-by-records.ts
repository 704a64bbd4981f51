import { expect } from 'vitest'
import type { LogRecord } from '../records.ts'

/** Which reminders are pending, told by the records alone: each ends in one way, and is emitted once. */
export function pendingByRecords(log: readonly LogRecord[]): readonly string[] {
  const emitted = new Map<string, boolean>()
  const end = (id: string): void => expect(emitted.delete(id), `${id} ended twice`).toBe(true)
  for (const entry of log) {
    if (entry.type === 'submitted')
      for (const { id } of entry.reminders ?? []) emitted.set(id, false)
    if (entry.type === 'reminder-injected') {
      expect(emitted.has(entry.reminder.id)).toBe(false)
      emitted.set(entry.reminder.id, false)
    }
    if (entry.type === 'reminder-deduped' || entry.type === 'reminder-expired')
      entry.ids.forEach(end)
    if (entry.type === 'turn-started' || entry.type === 'reminders-shown') {
      for (const id of entry.emitted) {
        expect(emitted.get(id), `${id} emitted twice`).toBe(false)
        emitted.set(id, true)
      }
    }
  }
  return [...emitted.keys()]
}
