/**
 * Reminders: context for later turns that is never user input. A pending reminder ends in exactly
 * one way: it is replaced by one with the same `dedupeKey`, or it expires by `ttl`, `compaction`,
 * `cleared` or `task_ended`.
 */
import { fingerprint } from '../receipts/fingerprint.ts'
import type { PauseMode } from '../suspension.ts'
import type { JsonObject } from '../values/json.ts'

export type Propagate = 'session' | 'none' | 'all'
export type RoleHint = 'system' | 'developer'
export type ExpiryReason = 'ttl' | 'compaction' | 'cleared' | 'task_ended'

export interface Reminder {
  readonly id: string
  readonly body: string
  readonly tags: readonly string[]
  readonly dedupeKey?: string
  /** How many turns are left. Absent if the reminder lasts until the task ends. */
  readonly ttlTurns?: number
  readonly preserveOnCompact: boolean
  readonly propagate: Propagate
  readonly roleHint: RoleHint
  readonly source?: string
  /**
   * The turn during which its source added it. After the reminder was shown: the first turn that
   * showed it.
   */
  readonly firedAtTurn?: number
  readonly mode: PauseMode
  readonly metadata?: JsonObject
  /** Set for a copy in a sub-task: the task that the reminder was injected into. */
  readonly inheritedFrom?: string
  readonly acceptedAt: number
}

/** A pending reminder and what has happened to it on this task. */
export interface PendingReminder {
  readonly reminder: Reminder
  /** The first turn that showed the reminder. */
  readonly emittedAtTurn?: number
  /** The latest turn that showed the reminder. */
  readonly shownInTurn?: number
}

/**
 * The answer to an injected reminder. It is kept after the reminder is gone, so that a repeated
 * request gets the same answer.
 */
export interface AcceptedReminder {
  readonly id: string
  /** The fingerprint of the reminder's body. */
  readonly print: string
  readonly acceptedAt: number
  readonly dedupedCount: number
}

/** The most answers that a task keeps, the newest ones. */
export const ACCEPTED_REMINDERS_KEPT = 256

/** A reminder and the provider that added it. */
export interface ProvidedReminder {
  readonly provider: string
  readonly reminder: Reminder
}

/** How a turn ended. Only completed turns count for the TTL of reminders. */
export type TurnOutcome = 'completed' | 'skipped' | 'failed'

/** Whether a reminder may be shown when a turn starts (`start`), or when a running turn reads again (`reread`). */
export function isVisible(pending: PendingReminder, when: 'start' | 'reread'): boolean {
  return when === 'start' || pending.reminder.mode !== 'wait_for_completion'
}

/**
 * The reminders that remain after a turn, and the ids of those whose TTL reached zero. If the turn
 * completed, the TTL of each reminder that it showed is reduced by one, unless the source added the
 * reminder during a later turn.
 */
export function afterTurn(
  pending: readonly PendingReminder[],
  turn: number,
  outcome: TurnOutcome = 'completed',
): { readonly left: readonly PendingReminder[]; readonly expired: readonly string[] } {
  if (outcome !== 'completed') return { left: pending, expired: [] }
  const expired: string[] = []
  const left: PendingReminder[] = []
  for (const item of pending) {
    const { ttlTurns, firedAtTurn } = item.reminder
    const costs = item.shownInTurn === turn && turn >= (firedAtTurn ?? 0)
    if (!costs || ttlTurns === undefined) left.push(item)
    else if (ttlTurns <= 1) expired.push(item.reminder.id)
    else left.push({ ...item, reminder: { ...item.reminder, ttlTurns: ttlTurns - 1 } })
  }
  return { left, expired }
}

/**
 * The reminders that a new sub-task inherits from a task: those with `all` at every level, those
 * with `session` one level down, those with `none` never. Turn numbers are not inherited, because
 * the child counts its own turns. Each copy names the task that the reminder was first injected
 * into.
 */
export function inherited(
  pending: readonly PendingReminder[],
  parentTaskId: string,
): readonly Reminder[] {
  return pending
    .map((item) => item.reminder)
    .filter(
      (reminder) =>
        reminder.propagate === 'all' ||
        (reminder.propagate === 'session' && reminder.inheritedFrom === undefined),
    )
    .map(({ firedAtTurn: _, inheritedFrom = parentTaskId, ...reminder }) => ({
      ...reminder,
      inheritedFrom,
    }))
}

/** The pending reminders without those that were replaced or expired. */
export function without(
  pending: readonly PendingReminder[],
  ids: readonly string[],
): readonly PendingReminder[] {
  return pending.filter((item) => !ids.includes(item.reminder.id))
}

/** The pending reminders after a turn showed some of them. */
export function shown(
  pending: readonly PendingReminder[],
  reminders: readonly Reminder[],
  turn: number,
): readonly PendingReminder[] {
  if (reminders.length === 0) return pending
  const ids = new Set(reminders.map((reminder) => reminder.id))
  return pending.map((item) =>
    ids.has(item.reminder.id)
      ? { ...item, emittedAtTurn: item.emittedAtTurn ?? turn, shownInTurn: turn }
      : item,
  )
}

/** The kept answers after one more injected reminder. */
export function remembering(
  reminded: readonly AcceptedReminder[],
  { id, body, acceptedAt }: Reminder,
  dedupedCount: number = 0,
): readonly AcceptedReminder[] {
  const newest = { id, print: fingerprint(body), acceptedAt, dedupedCount }
  return [...reminded, newest].slice(-ACCEPTED_REMINDERS_KEPT)
}
