/** Reminders, and what happens to them when the peer does not accept reminders. */
import type { JsonObject } from '../core/json.ts'
import type { Propagate, RoleHint } from '../core/reminders.ts'
import type { PauseMode } from '../core/suspension.ts'
import { uuid } from './uuid.ts'
import { objectIn } from './wire/json-members.ts'

/** A text for coming turns. Only `body` is required. */
export interface ReminderInput {
  /** Injecting the same id again changes nothing. */
  readonly id?: string
  readonly body: string
  readonly tags?: readonly string[]
  /** Replaces pending reminders with the same key. */
  readonly dedupeKey?: string
  /** The reminder expires after this many turns. Absent: at the end of the task. */
  readonly ttlTurns?: number
  readonly preserveOnCompact?: boolean
  readonly propagate?: Propagate
  readonly roleHint?: RoleHint
  readonly source?: string
  readonly firedAtTurn?: number
  readonly mode?: PauseMode
}

/**
 * For peers that do not accept reminders:
 * - `fail`: an error of kind `unsupported` (the default);
 * - `suppress`: drop the reminder;
 * - `metadata`: attach it to the next message to the task, as `metadata.harn.reminder`.
 */
export type ReminderFallback = 'fail' | 'suppress' | 'metadata'

export type RemindOutcome =
  | {
      readonly outcome: 'accepted'
      readonly reminderId: string
      /** How many pending reminders it replaced. */
      readonly dedupedCount: number
      readonly acceptedAt: string
    }
  /** It was dropped. */
  | { readonly outcome: 'suppressed' }
  /** The client sends it with a later message to the task. Each message carries one; `ahead` others come first. */
  | { readonly outcome: 'attached'; readonly reminderId: string; readonly ahead: number }

/** Selects reminders. Without a field: all reminders of the task. */
export interface ReminderSelection {
  readonly id?: string
  readonly tag?: string
  readonly dedupeKey?: string
}

export type IdentifiedReminder = ReminderInput & { readonly id: string }

/** Reminders that wait for the next message to their task. */
export interface Attached {
  add(taskId: string, reminder: ReminderInput): { readonly id: string; readonly ahead: number }
  take(taskId: string | undefined): IdentifiedReminder | undefined
  /** The message could not be sent. */
  putBack(taskId: string, reminder: IdentifiedReminder): void
}

export function createAttached(): Attached {
  const waiting = new Map<string, readonly IdentifiedReminder[]>()
  const of = (taskId: string): readonly IdentifiedReminder[] => waiting.get(taskId) ?? []
  const keep = (taskId: string, list: readonly IdentifiedReminder[]): void => {
    if (list.length === 0) waiting.delete(taskId)
    else waiting.set(taskId, list)
  }
  return {
    add(taskId, reminder) {
      const { dedupeKey } = reminder
      const id = reminder.id ?? `reminder-${uuid()}`
      const others = of(taskId).filter(
        (one) => one.id !== id && (dedupeKey === undefined || one.dedupeKey !== dedupeKey),
      )
      keep(taskId, [...others, { ...reminder, id }])
      return { id, ahead: others.length }
    },
    take(taskId) {
      if (taskId === undefined) return undefined
      const [first, ...rest] = of(taskId)
      keep(taskId, rest)
      return first
    },
    putBack(taskId, reminder) {
      keep(taskId, [reminder, ...of(taskId)])
    },
  }
}

/** Adds the reminder as `harn.reminder` in snake_case, as the RFC says for peers without the method. */
export function withReminder(
  metadata: JsonObject | undefined,
  reminder: IdentifiedReminder,
): JsonObject {
  return { ...metadata, harn: { ...objectIn(metadata, 'harn'), reminder: snakeCase(reminder) } }
}

function snakeCase(reminder: IdentifiedReminder): JsonObject {
  return Object.fromEntries(
    Object.entries(reminder).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}
