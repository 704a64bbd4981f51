/**
 * `urn:lull:a2a:reminders:1`: results of the methods, frames for changes of reminders, and the
 * parameters on the card.
 */
import { z } from 'zod'
import {
  expiryReason,
  jsonObject,
  pauseMode,
  propagate,
  roleHint,
} from '../../../engine/input/inputs.ts'
import { id, instant, type ShapeOf } from './vocabulary.ts'

export type Injected = ShapeOf<typeof injectReminderResult>

export const injectReminderResult = z.strictObject({
  reminderId: id,
  dedupedCount: z.number().int().min(0),
  acceptedAt: instant,
})

export type ReminderFacts = ShapeOf<typeof reminder>

/** A reminder as it is shown in streams and lists. */
export const reminder = z.strictObject({
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
})

export type ReminderList = ShapeOf<typeof listRemindersResult>

export const listRemindersResult = z.strictObject({ taskId: id, reminders: z.array(reminder) })

export type Cleared = ShapeOf<typeof clearRemindersResult>

export const clearRemindersResult = z.strictObject({ clearedCount: z.number().int().min(0) })

export type ReminderChangeFacts = ShapeOf<typeof remindersMetadata>

export const remindersMetadata = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('emitted'), reminder }),
  z.strictObject({
    event: z.literal('deduped'),
    dedupeKey: z.string(),
    /** The id of the reminder that replaced them. */
    by: id,
    displaced: z.array(id),
  }),
  z.strictObject({ event: z.literal('expired'), reminderId: id, reason: expiryReason }),
])

export type RemindersParams = ShapeOf<typeof remindersParams>

/** The parameters on the card, and `capabilities.reminders` of a 0.3 card. */
export const remindersParams = z.strictObject({
  inject: z.literal(true),
  emit: z.literal(true),
  propagate: z.array(propagate),
  roleHints: z.array(roleHint),
})
