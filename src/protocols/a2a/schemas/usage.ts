/** `urn:lull:a2a:usage:1`: the usage of a task so far. */
import { z } from 'zod'
import { exactly } from './exactly.ts'

export interface UsageFacts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

const amount = z.number().nonnegative()

export const usageMetadata: z.ZodType<UsageFacts> = exactly<UsageFacts>()(
  z.strictObject({ inputTokens: amount, outputTokens: amount, costUsd: amount }),
)
