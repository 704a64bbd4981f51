/** `urn:lull:a2a:streams:1`: an artifact that is the live output of a step. */
import { z } from 'zod'
import { exactly } from './exactly.ts'

export interface StreamFacts {
  /**
   * `open`: the step is still writing, and the artifact is not part of the task yet. `recorded`: it
   * is part of the task. `discarded`: the attempt that wrote it did not finish, so it is not part
   * of the task; a new attempt may start it anew.
   */
  readonly state: 'open' | 'recorded' | 'discarded'
}

export const streamsMetadata: z.ZodType<StreamFacts> = exactly<StreamFacts>()(
  z.strictObject({ state: z.enum(['open', 'recorded', 'discarded']) }),
)
