/** Arguments of `task.*` calls. */
import { z } from 'zod'
import type { Json } from '../../core/json.ts'
import type { Decision, UsageReport } from '../../core/records.ts'
import type { TranscriptEntry } from '../../core/transcript.ts'
import type { AskOptions, ConsentRequest, Retry, StepOptions } from '../agent-task.ts'
import { json } from '../json-input.ts'
import { type FieldsOf, oneOf } from './exhaustive.ts'
import { epochMs, id, text } from './primitives.ts'

const notNegative = z.number().nonnegative()

const retryFields = {
  attempts: z.number().int().nonnegative(),
  backoffMs: notNegative.optional(),
  factor: z.number().min(1).optional(),
  maxBackoffMs: notNegative.optional(),
} satisfies FieldsOf<Retry>

export const stepOptionsInput: z.ZodType<StepOptions> = z.strictObject({
  retry: (z.strictObject(retryFields) as z.ZodType<Retry>).optional(),
  timeoutMs: z.number().positive().optional(),
  key: text.min(1).optional(),
  added: z.boolean().optional(),
} satisfies FieldsOf<StepOptions>) as z.ZodType<StepOptions>

export const askOptionsInput: z.ZodType<AskOptions> = z.strictObject({
  expiresAt: epochMs.optional(),
} satisfies FieldsOf<AskOptions>) as z.ZodType<AskOptions>

export const consentInput: z.ZodType<ConsentRequest> = z.strictObject({
  prompt: text.min(1),
  operation: json,
  scope: json.optional(),
  expiresAt: epochMs.optional(),
} satisfies FieldsOf<ConsentRequest>) as z.ZodType<ConsentRequest>

/** The required members of an answer to a consent question. Further members are allowed. */
export const consentAnswer: z.ZodType<{ consentId: string; decision: Decision }> = z.object({
  consentId: id,
  decision: oneOf<Decision>({ granted: true, denied: true }),
})

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
