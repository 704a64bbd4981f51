/** Reminders: inject, list and clear them, with fallbacks for peers that do not accept reminders. */

import type { Propagate, RoleHint } from '../../core/reminders/reminders.ts'
import type { PauseMode } from '../../core/suspension.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { Client, ClientParts } from '../client.ts'
import { isClientError, notA2A, unsupported } from '../client-error.ts'
import { operations } from '../wire/a2a-names.ts'
import { readReminder } from '../wire/extension-metadata.ts'
import { isObject, readList, readNumber, readObject, readString } from '../wire/json-members.ts'
import { uuid } from './message-content.ts'

/** A text that the agent sees in its coming turns. Only `body` is required. */
export interface ReminderInput {
  /** Injecting a reminder with the same id again changes nothing. */
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
  /** The client dropped the reminder. */
  | { readonly outcome: 'suppressed' }
  /** The client sends the reminder with a later message to the task. Each message carries one; `ahead` others come first. */
  | { readonly outcome: 'attached'; readonly reminderId: string; readonly ahead: number }

/** Selects reminders. Without a field: all reminders of the task. */
export interface ReminderSelection {
  readonly id?: string
  readonly tag?: string
  readonly dedupeKey?: string
}

export type IdentifiedReminder = ReminderInput & { readonly id: string }

type Reminding = Pick<Client, 'remind' | 'reminders' | 'clearReminders'>

export function createReminders(parts: ClientParts): Reminding {
  const { transport, attached } = parts

  async function isOffered(fallback: ReminderFallback, signal?: AbortSignal): Promise<boolean> {
    const card = fallback === 'fail' ? parts.knownCard() : await parts.card({ signal })
    return card?.capabilities.reminders.inject ?? true
  }

  function fallBack(
    taskId: string,
    reminder: ReminderInput,
    fallback: ReminderFallback,
  ): RemindOutcome {
    if (fallback === 'suppress') return { outcome: 'suppressed' }
    if (fallback === 'fail') throw unsupported('reminders')
    const { id, ahead } = attached.add(taskId, reminder)
    return { outcome: 'attached', reminderId: id, ahead }
  }

  return {
    async remind(taskId, textOrReminder, { fallback = 'fail', metadata, signal } = {}) {
      const reminder =
        typeof textOrReminder === 'string' ? { body: textOrReminder } : textOrReminder
      if (!(await isOffered(fallback, signal))) return fallBack(taskId, reminder, fallback)
      try {
        const params = { taskId, reminder, metadata }
        return readAccepted(await transport.call(operations.remind, params, { signal }))
      } catch (error) {
        if (!isClientError(error) || error.kind !== 'unsupported') throw error
        return fallBack(taskId, reminder, fallback)
      }
    },
    async reminders(taskId, { signal } = {}) {
      const answer = await transport.call(operations.listReminders, { taskId }, { signal })
      return readList(answer, 'reminders').filter(isObject).map(readReminder)
    },
    async clearReminders(taskId, which = {}, { signal } = {}) {
      const params = { taskId, ...which }
      const answer = await transport.call(operations.clearReminders, params, { signal })
      return { clearedCount: readNumber(answer, 'clearedCount') ?? 0 }
    },
  }
}

function readAccepted(value: unknown): RemindOutcome {
  const reminderId = readString(value, 'reminderId')
  if (reminderId === undefined) throw notA2A('a reminder without its id')
  return {
    outcome: 'accepted',
    reminderId,
    dedupedCount: readNumber(value, 'dedupedCount') ?? 0,
    acceptedAt: readString(value, 'acceptedAt') ?? '',
  }
}

/** Reminders that wait for the next message to their task. */
export interface AttachedReminders {
  add(taskId: string, reminder: ReminderInput): { readonly id: string; readonly ahead: number }
  /** Removes and returns the next reminder of the task. */
  take(taskId: string | undefined): IdentifiedReminder | undefined
  /** For a message that could not be sent. */
  putBack(taskId: string, reminder: IdentifiedReminder): void
}

export function createAttachedReminders(): AttachedReminders {
  const waiting = new Map<string, readonly IdentifiedReminder[]>()
  const waitingFor = (taskId: string): readonly IdentifiedReminder[] => waiting.get(taskId) ?? []
  const replace = (taskId: string, list: readonly IdentifiedReminder[]): void => {
    if (list.length === 0) waiting.delete(taskId)
    else waiting.set(taskId, list)
  }
  return {
    add(taskId, reminder) {
      const { dedupeKey } = reminder
      const id = reminder.id ?? `reminder-${uuid()}`
      const others = waitingFor(taskId).filter(
        (one) => one.id !== id && (dedupeKey === undefined || one.dedupeKey !== dedupeKey),
      )
      replace(taskId, [...others, { ...reminder, id }])
      return { id, ahead: others.length }
    },
    take(taskId) {
      if (taskId === undefined) return undefined
      const [first, ...rest] = waitingFor(taskId)
      replace(taskId, rest)
      return first
    },
    putBack(taskId, reminder) {
      replace(taskId, [reminder, ...waitingFor(taskId)])
    },
  }
}

/** Adds the reminder as `harn.reminder` in snake_case, as the RFC says for peers without the method. */
export function attachReminder(
  metadata: JsonObject | undefined,
  reminder: IdentifiedReminder,
): JsonObject {
  return { ...metadata, harn: { ...readObject(metadata, 'harn'), reminder: snakeCase(reminder) } }
}

function snakeCase(reminder: IdentifiedReminder): JsonObject {
  return Object.fromEntries(
    Object.entries(reminder).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}
