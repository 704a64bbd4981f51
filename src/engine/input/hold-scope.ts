/** The schema of the scope of a hold, a budget or a rule. */
import { z } from 'zod'
import type { HoldScope } from '../../ports/store/holds.ts'
import { list } from './bounded.ts'
import { type KeysOfEach, unionOf } from './exhaustive.ts'
import { id } from './primitives.ts'

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
