/** Requests to pause, resume, park, cancel and hold. */
import { z } from 'zod'
import type { HoldScope } from '../../ports/store/holds.ts'
import { list } from './bounded.ts'
import { resumeConditions } from './conditions.ts'
import { type FieldsOf, type KeysOfEach, unionOf } from './exhaustive.ts'
import { id, reason, summary } from './primitives.ts'
import type { HoldRequest, ParkRequest } from './requests.ts'

export const parkInput: z.ZodType<ParkRequest> = z.strictObject({
  reason,
  summary: summary.optional(),
  conditions: resumeConditions.nullish(),
} satisfies FieldsOf<ParkRequest>)

const scopes: Readonly<Record<KeysOfEach<HoldScope>, z.ZodType>> = {
  all: z.strictObject({ all: z.literal(true) }),
  tenant: z.strictObject({ tenant: id }),
  agent: z.strictObject({ tenant: id.optional(), agent: id }),
  contextId: z.strictObject({ tenant: id.optional(), contextId: id }),
  taskIds: z.strictObject({ taskIds: list(id, 10_000, 1) }),
}

export const holdScope: z.ZodType<HoldScope> = unionOf(
  Object.values(scopes),
) as z.ZodType<HoldScope>

export const holdInput: z.ZodType<HoldRequest> = z.strictObject({
  scope: holdScope,
  reason: reason.min(1),
  holdNew: z.boolean().optional(),
} satisfies FieldsOf<HoldRequest>)
