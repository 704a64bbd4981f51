/** `urn:lull:a2a:user-consent:1`: the question, its answer, and the parameters on the card. */
import { z } from 'zod'
import type { Decision } from '../../../core/records.ts'
import type { Json } from '../../../core/values/json.ts'
import { decision, json } from '../../../engine/input/inputs.ts'
import { exactly } from './exactly.ts'
import { id, instant } from './vocabulary.ts'

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
