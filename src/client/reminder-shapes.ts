/** Reminders: injected where the peer takes them; elsewhere the caller has chosen what becomes of them. */
import type { JsonObject } from '../core/json.ts'
import type { Propagate, RoleHint } from '../core/reminders.ts'
import type { PauseMode } from '../core/suspension.ts'
import { objectIn } from './shape.ts'
import { uuid } from './uuid.ts'

/** Ambient context for coming turns; only `body` is needed. */
export interface ReminderInput {
  /** Injecting the same id again changes nothing. */
  readonly id?: string
  readonly body: string
  readonly tags?: readonly string[]
  /** Takes the place of pending reminders with the same key. */
  readonly dedupeKey?: string
  /** For so many turns; absent: until the task ends. */
  readonly ttlTurns?: number
  readonly preserveOnCompact?: boolean
  readonly propagate?: Propagate
  readonly roleHint?: RoleHint
  readonly source?: string
  readonly firedAtTurn?: number
  readonly mode?: PauseMode
}

/**
 * For peers that take no reminders:
 * - `fail`: an error of kind `unsupported` (the default);
 * - `suppress`: leave it out;
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
  /** It was left out. */
  | { readonly outcome: 'suppressed' }
  /** It waits in this client for a message to the task; `ahead` others go first, one with each message. */
  | { readonly outcome: 'attached'; readonly reminderId: string; readonly ahead: number }

/** Which reminders; none named: all of the task. */
export interface ReminderSelection {
  readonly id?: string
  readonly tag?: string
  readonly dedupeKey?: string
}

export type IdentifiedReminder = ReminderInput & { readonly id: string }

/** Reminders that wait for a message to travel with. */
export interface Attached {
  /** How many go before it. */
  add(taskId: string, reminder: ReminderInput): { readonly id: string; readonly ahead: number }
  take(taskId: string | undefined): IdentifiedReminder | undefined
  /** The message did not go. */
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

/** With `harn.reminder`, the RFC's way for peers without the method: the same fields, snake_case. */
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
