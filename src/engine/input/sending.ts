import { z } from 'zod'
import { list } from './bounded.ts'
import { message } from './message.ts'
import { check, parse } from './parse.ts'
import { id, jsonObject } from './primitives.ts'
import { reminderInput } from './reminders.ts'
import type { CheckedSendRequest, SendRequest } from './requests.ts'

/** Its message is checked by itself, because a protocol may have done it. */
export const sendInput: z.ZodType<Omit<SendRequest, 'message'> & { message?: unknown }> =
  z.strictObject({
    agent: id.optional(),
    message: z.unknown(),
    idempotencyKey: id.optional(),
    metadata: jsonObject.optional(),
    origin: id.optional(),
    reminders: list(reminderInput, 64).optional(),
  } satisfies { readonly [F in keyof Required<SendRequest>]: z.ZodType })

/** @throws LullError `INVALID_INPUT` */
export function checkSend(given: SendRequest): CheckedSendRequest {
  const request = parse(sendInput, given)
  return { ...request, message: check(message, request.message, 'message') }
}
