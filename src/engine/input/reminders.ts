/** Requests about reminders. */
import { z } from 'zod'
import { list } from './bounded.ts'
import type { FieldsOf } from './exhaustive.ts'
import { BLANK, id, NOT_BLANK, text } from './primitives.ts'
import type { ReminderRequest } from './requests.ts'
import { pauseMode, propagate, roleHint } from './unions.ts'

/** An id, tag, key or source of a reminder. */
const mark = text.max(256, 'must be at most 256 characters').regex(NOT_BLANK, BLANK)

const TAGS_LIMIT = 32

export const reminderInput: z.ZodType<ReminderRequest> = z.strictObject({
  id: mark.optional(),
  body: text.max(16_384, 'must be at most 16,384 characters').regex(NOT_BLANK, BLANK),
  tags: list(mark, TAGS_LIMIT).optional(),
  dedupeKey: mark.nullish(),
  ttlTurns: z.number().int().positive('must be greater than 0').nullish(),
  preserveOnCompact: z.boolean().optional(),
  propagate: propagate.optional(),
  roleHint: roleHint.optional(),
  source: mark.nullish(),
  firedAtTurn: z.number().int().min(0).nullish(),
  mode: pauseMode.optional(),
} satisfies FieldsOf<ReminderRequest>)

export const listRemindersInput: z.ZodType<{ taskId: string }> = z.strictObject({ taskId: id })

export const listReceiptsInput: z.ZodType<{ taskId: string }> = z.strictObject({ taskId: id })
