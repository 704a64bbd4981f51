/** What extensions without methods add to the metadata of tasks and events: consent, progress, streams, usage. */

import { z } from 'zod'
import type { Decision } from '../../../core/records.ts'
import type { Json } from '../../../core/values/json.ts'
import { decision, json } from '../../../engine/input/inputs.ts'
import { exactly, id, instant } from './vocabulary.ts'

/** `urn:lull:a2a:user-consent:1`: the question and its answer. */
export interface ConsentAsked {
  readonly state: 'user-consent-required'
  readonly consentId: string
  readonly prompt: string
  readonly operation: Json
  /** SHA-256 of the canonical JSON of the operation. */
  readonly digest: string
  readonly scope?: Json
  readonly expiresAt?: string
}

/** The consent was decided, or is no longer needed. */
export interface ConsentOver {
  readonly state: 'active'
  readonly consentId: string
  readonly decision?: Decision
}

export type ConsentFacts = ConsentAsked | ConsentOver

export const userConsentMetadata: z.ZodType<ConsentFacts> = exactly<ConsentFacts>()(
  z.discriminatedUnion('state', [
    z.strictObject({
      state: z.literal('user-consent-required'),
      consentId: id,
      prompt: z.string(),
      operation: json,
      digest: z.string().min(1),
      scope: json.exactOptional(),
      expiresAt: instant.exactOptional(),
    }),
    z.strictObject({
      state: z.literal('active'),
      consentId: id,
      decision: decision.exactOptional(),
    }),
  ]),
)

export interface UserConsentParams {
  readonly inBand: true
  readonly substateOf: { readonly 'user-consent-required': string }
}

export const userConsentParams: z.ZodType<UserConsentParams> = exactly<UserConsentParams>()(
  z.strictObject({
    inBand: z.literal(true),
    substateOf: z.strictObject({ 'user-consent-required': z.string() }),
  }),
)

/** `urn:lull:a2a:progress:1`: the progress of a task. */
export interface ProgressFacts {
  readonly fraction: number
}

export const progressMetadata: z.ZodType<ProgressFacts> = exactly<ProgressFacts>()(
  z.strictObject({ fraction: z.number().min(0).max(1) }),
)

/** `urn:lull:a2a:streams:1`: an artifact that is the live output of a step. */
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

/** `urn:lull:a2a:usage:1`: the usage of a task so far. */
export interface UsageFacts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

const amount = z.number().nonnegative()

export const usageMetadata: z.ZodType<UsageFacts> = exactly<UsageFacts>()(
  z.strictObject({ inputTokens: amount, outputTokens: amount, costUsd: amount }),
)
