/** What extensions without methods add to the metadata of tasks and events: consent, progress, streams, usage. */
import { z } from 'zod'
import { decision, json } from '../../../engine/input/inputs.ts'
import { id, instant, type ShapeOf } from './vocabulary.ts'

export type ConsentAsked = ShapeOf<typeof consentAsked>

/** `urn:lull:a2a:user-consent:1`: the question. */
const consentAsked = z.strictObject({
  state: z.literal('user-consent-required'),
  consentId: id,
  prompt: z.string(),
  operation: json,
  /** SHA-256 of the canonical JSON of the operation. */
  digest: z.string().min(1),
  scope: json.exactOptional(),
  expiresAt: instant.exactOptional(),
})

export type ConsentFacts = ShapeOf<typeof userConsentMetadata>

export const userConsentMetadata = z.discriminatedUnion('state', [
  consentAsked,
  // The consent was decided, or is no longer needed.
  z.strictObject({
    state: z.literal('active'),
    consentId: id,
    decision: decision.exactOptional(),
  }),
])

export type UserConsentParams = ShapeOf<typeof userConsentParams>

export const userConsentParams = z.strictObject({
  inBand: z.literal(true),
  substateOf: z.strictObject({ 'user-consent-required': z.string() }),
})

export type ProgressFacts = ShapeOf<typeof progressMetadata>

/** `urn:lull:a2a:progress:1`. */
export const progressMetadata = z.strictObject({ fraction: z.number().min(0).max(1) })

export type StreamFacts = ShapeOf<typeof streamsMetadata>

/**
 * `urn:lull:a2a:streams:1`: an artifact that is the live output of a step. `open`: the step is still
 * writing, and the artifact is not part of the task yet. `recorded`: it is part of the task.
 * `discarded`: the attempt that wrote it did not finish, so it is not part of the task; a new attempt
 * may start it anew.
 */
export const streamsMetadata = z.strictObject({ state: z.enum(['open', 'recorded', 'discarded']) })

export type UsageFacts = ShapeOf<typeof usageMetadata>

const amount = z.number().nonnegative()

/** `urn:lull:a2a:usage:1`: the usage of a task so far. */
export const usageMetadata = z.strictObject({
  inputTokens: amount,
  outputTokens: amount,
  costUsd: amount,
})
