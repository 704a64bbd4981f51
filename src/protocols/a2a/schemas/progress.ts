/** `urn:lull:a2a:progress:1`: the progress of a task. */
import { z } from 'zod'
import { exactly } from './exactly.ts'

export interface ProgressFacts {
  readonly fraction: number
}

export const progressMetadata: z.ZodType<ProgressFacts> = exactly<ProgressFacts>()(
  z.strictObject({ fraction: z.number().min(0).max(1) }),
)
