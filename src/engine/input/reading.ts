/** Requests to list, to wait and to subscribe. */
import { z } from 'zod'
import { type State, states } from '../../core/states.ts'
import { list } from './bounded.ts'
import { duration } from './duration.ts'
import type { FieldsOf } from './exhaustive.ts'
import { id, text } from './primitives.ts'
import type { ListRequest } from './requests.ts'

export const waitInput: z.ZodType<{ timeoutMs?: number | undefined }> = z.object({
  timeoutMs: duration.optional(),
})

export const subscribeInput: z.ZodType<{ after?: number | undefined }> = z.object({
  after: z.number().int().min(0).optional(),
})

export const listInput: z.ZodType<ListRequest> = z.strictObject({
  agent: id.optional(),
  contextId: id.optional(),
  parentId: id.optional(),
  states: list(z.enum(states as [State, ...State[]]), 64).optional(),
  held: z.boolean().optional(),
  statusAtFrom: z.number().optional(),
  cursor: text.max(4_096).optional(),
  limit: z.number().int().min(1).max(100).optional(),
} satisfies FieldsOf<ListRequest>) as z.ZodType<ListRequest>
