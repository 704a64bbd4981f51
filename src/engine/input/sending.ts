import { z } from 'zod'
import { list } from './bounded.ts'
import type { FieldsOf } from './exhaustive.ts'
import { message } from './message.ts'
import { id, jsonObject } from './primitives.ts'
import { reminderInput } from './reminders.ts'
import type { CheckedSendRequest } from './requests.ts'

export const sendInput: z.ZodType<CheckedSendRequest> = z.strictObject({
  agent: id.optional(),
  message,
  idempotencyKey: id.optional(),
  metadata: jsonObject.optional(),
  origin: id.optional(),
  reminders: list(reminderInput, 64).optional(),
} satisfies FieldsOf<CheckedSendRequest>)
