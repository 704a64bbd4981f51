/**
 * `urn:lull:a2a:reminders:1`: results of the methods, frames for changes of reminders, and the
 * parameters on the card.
 */
import { z } from 'zod'
import type {
  ExpiryReason,
  Propagate,
  Reminder,
  RoleHint,
} from '../../../core/reminders/reminders.ts'
import {
  expiryReason,
  jsonObject,
  pauseMode,
  propagate,
  roleHint,
} from '../../../engine/input/inputs.ts'
import { exactly, id, instant } from './vocabulary.ts'

export interface Injected {
  readonly reminderId: string
  readonly dedupedCount: number
  readonly acceptedAt: string
}

export const injectReminderResult: z.ZodType<Injected> = exactly<Injected>()(
  z.strictObject({
    reminderId: id,
    dedupedCount: z.number().int().min(0),
    acceptedAt: instant,
  }),
)

/** A reminder as it is shown in streams and lists. */
export interface ReminderFacts extends Omit<Reminder, 'acceptedAt'> {
  readonly acceptedAt: string
}

export const reminder: z.ZodType<ReminderFacts> = exactly<ReminderFacts>()(
  z.strictObject({
    id,
    body: z.string().min(1).max(16_384),
    tags: z.array(z.string()),
    dedupeKey: z.string().min(1).exactOptional(),
    ttlTurns: z.number().int().positive().exactOptional(),
    preserveOnCompact: z.boolean(),
    propagate,
    roleHint,
    source: z.string().exactOptional(),
    firedAtTurn: z.number().int().min(0).exactOptional(),
    mode: pauseMode,
    metadata: jsonObject.exactOptional(),
    inheritedFrom: id.exactOptional(),
    acceptedAt: instant,
  }),
)

export interface ReminderList {
  readonly taskId: string
  readonly reminders: readonly ReminderFacts[]
}

export const listRemindersResult: z.ZodType<ReminderList> = exactly<ReminderList>()(
  z.strictObject({ taskId: id, reminders: z.array(reminder) }),
)

export interface Cleared {
  readonly clearedCount: number
}

export const clearRemindersResult: z.ZodType<Cleared> = exactly<Cleared>()(
  z.strictObject({ clearedCount: z.number().int().min(0) }),
)

export type ReminderChangeFacts =
  | { readonly event: 'emitted'; readonly reminder: ReminderFacts }
  | {
      readonly event: 'deduped'
      readonly dedupeKey: string
      /** The id of the reminder that replaced them. */
      readonly by: string
      readonly displaced: readonly string[]
    }
  | { readonly event: 'expired'; readonly reminderId: string; readonly reason: ExpiryReason }

export const remindersMetadata: z.ZodType<ReminderChangeFacts> = exactly<ReminderChangeFacts>()(
  z.discriminatedUnion('event', [
    z.strictObject({ event: z.literal('emitted'), reminder }),
    z.strictObject({
      event: z.literal('deduped'),
      dedupeKey: z.string(),
      by: id,
      displaced: z.array(id),
    }),
    z.strictObject({ event: z.literal('expired'), reminderId: id, reason: expiryReason }),
  ]),
)

export interface RemindersParams {
  readonly inject: true
  readonly emit: true
  readonly propagate: readonly Propagate[]
  readonly roleHints: readonly RoleHint[]
}

/** The parameters on the card, and `capabilities.reminders` of a 0.3 card. */
export const remindersParams: z.ZodType<RemindersParams> = exactly<RemindersParams>()(
  z.strictObject({
    inject: z.literal(true),
    emit: z.literal(true),
    propagate: z.array(propagate),
    roleHints: z.array(roleHint),
  }),
)
