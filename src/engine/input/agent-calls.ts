/** Arguments of `task.*` calls. */
import { z } from 'zod'
import type { Part } from '../../core/messages/message.ts'
import type { Choice } from '../../core/messages/question-part.ts'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { ConsentBy, Decision, UsageReport } from '../../core/records.ts'
import { type Scope, scopes } from '../../core/scopes.ts'
import type { InMs } from '../../core/values/duration.ts'
import type { Json } from '../../core/values/json.ts'
import type {
  AskOptions,
  AskRequest,
  ConsentRequest,
  Retry,
  StepOptions,
} from '../author/agent-task.ts'
import { isSchema, type StandardSchemaV1 } from '../author/standard-schema.ts'
import { list } from './bounded.ts'
import { resumeConditions } from './conditions.ts'
import { type FieldsOf, oneOf } from './exhaustive.ts'
import { json } from './json-input.ts'
import { part } from './message.ts'
import { duration, epochMs, id, positiveDuration, reason, summary, text } from './primitives.ts'
import type { ParkRequest } from './requests.ts'
import { decision } from './unions.ts'

const retryFields = {
  attempts: z.number().int().nonnegative(),
  backoffMs: duration.optional(),
  factor: z.number().min(1).optional(),
  maxBackoffMs: duration.optional(),
} satisfies FieldsOf<InMs<Retry>>

/** The options of a step after the check. Durations are numbers. */
export interface CheckedStepOptions extends Omit<InMs<StepOptions>, 'retry'> {
  readonly retry?: InMs<Retry>
}

export const stepOptionsInput: z.ZodType<CheckedStepOptions> = z.strictObject({
  retry: (z.strictObject(retryFields) as z.ZodType<InMs<Retry>>).optional(),
  timeoutMs: positiveDuration.optional(),
  abandonAfterMs: duration.optional(),
  key: text.min(1).optional(),
  added: z.boolean().optional(),
  with: json.optional(),
} satisfies FieldsOf<CheckedStepOptions>) as z.ZodType<CheckedStepOptions>

/** The two ways to say when a question expires. */
const expiryFields = {
  expiresAt: epochMs.optional(),
  expiresInMs: positiveDuration.optional(),
} satisfies FieldsOf<InMs<AskOptions>>

export const askOptionsInput: z.ZodType<InMs<AskOptions>> = z.strictObject(
  expiryFields,
) as z.ZodType<InMs<AskOptions>>

/** A question after the check. Every choice is an object. */
export interface CheckedAskRequest extends Omit<InMs<AskRequest>, 'choices' | 'parts'> {
  readonly parts?: readonly Part[]
  readonly choices?: readonly Choice[]
}

const choiceText = text.min(1).max(1_024)

const choice = z.union([
  choiceText.transform((value) => ({ value })),
  z.strictObject({ value: choiceText, label: choiceText.optional() }),
]) as z.ZodType<Choice>

export const askInput: z.ZodType<CheckedAskRequest> = z.strictObject({
  text: text.min(1),
  parts: list(part, 256).optional(),
  schema: z.custom<StandardSchemaV1>(isSchema, 'must be a Standard Schema').optional(),
  choices: list(choice, 256, 1).optional(),
  ...expiryFields,
} satisfies FieldsOf<CheckedAskRequest>) as z.ZodType<CheckedAskRequest>

/** A consent request after the check. */
export interface CheckedConsentRequest extends Omit<InMs<ConsentRequest>, 'operation' | 'scope'> {
  readonly operation: Json
  readonly scope?: Json
}

const consentBy: z.ZodType<ConsentBy> = z.union([
  z.literal('other'),
  z.strictObject({ principal: id }),
  z.strictObject({ withScope: z.enum(scopes as [Scope, ...Scope[]]) }),
])

export const consentInput: z.ZodType<CheckedConsentRequest> = z.strictObject({
  prompt: text.min(1),
  operation: json,
  scope: json.optional(),
  by: consentBy.optional(),
  editable: z.custom<StandardSchemaV1>(isSchema, 'must be a Standard Schema').optional(),
  ...expiryFields,
} satisfies FieldsOf<CheckedConsentRequest>) as z.ZodType<CheckedConsentRequest>

/** A decision content whose absent members may be undefined. */
interface CheckedDecisionContent {
  readonly comment?: string | undefined
  readonly operation?: Json | undefined
}

const contentFields = {
  comment: text.max(2_000, 'must be at most 2,000 characters').optional(),
  operation: json.optional(),
}

/** The required members of an answer to a consent question. Further members are allowed. */
export const consentAnswer: z.ZodType<
  { consentId: string; decision: Decision } & CheckedDecisionContent
> = z.object({ consentId: id, decision: decision, ...contentFields })

const amount = z.number().min(0).optional()

export const usageInput: z.ZodType<UsageReport> = z.strictObject({
  inputTokens: amount,
  outputTokens: amount,
  costUsd: amount,
  contextWindow: z.number().positive('must be greater than 0').optional(),
} satisfies FieldsOf<UsageReport>) as z.ZodType<UsageReport>

export const transcriptInput: z.ZodType<{ role: 'agent' | 'tool'; content: Json }> = z.strictObject(
  {
    role: z.enum(['agent', 'tool']),
    content: json,
  },
)

/** The result of an agent's `compact`. */
export const transcriptEntriesInput: z.ZodType<readonly TranscriptEntry[]> = z.array(
  z.strictObject({
    turn: z.int().min(0),
    role: oneOf<TranscriptEntry['role']>({ user: true, agent: true, tool: true, digest: true }),
    content: json,
  } satisfies FieldsOf<TranscriptEntry>),
)

/** The arguments of `task.park()`. */
export const parkInput: z.ZodType<ParkRequest> = z.strictObject({
  reason,
  summary: summary.optional(),
  conditions: resumeConditions.nullish(),
} satisfies FieldsOf<ParkRequest>)
