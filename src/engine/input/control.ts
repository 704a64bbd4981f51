/** Requests to pause, resume, park, cancel and hold. */
import { z } from 'zod'
import type { HoldScope } from '../../ports/store/holds.ts'
import { list } from './bounded.ts'
import { resumeConditions } from './conditions.ts'
import { type FieldsOf, type KeysOfEach, unionOf } from './exhaustive.ts'
import { json } from './json-input.ts'
import { id, jsonObject, reason, summary } from './primitives.ts'
import type {
  CancelRequest,
  CheckedForkRequest,
  CheckedResumeRequest,
  HoldRequest,
  ParkRequest,
  ParkTaskRequest,
  PauseRequest,
} from './requests.ts'
import { pauseMode } from './unions.ts'

/** The longest time a caller may wait until a task is paused. */
const GRACE_LIMIT_MS = 60_000

export const pauseInput: z.ZodType<PauseRequest> = z.strictObject({
  taskId: id,
  reason: reason.optional(),
  mode: pauseMode.optional(),
  conditions: resumeConditions.nullish(),
  graceMs: z.number().int().min(0).max(GRACE_LIMIT_MS, 'must be at most 60000').optional(),
  cascade: z.boolean().optional(),
  metadata: jsonObject.optional(),
} satisfies FieldsOf<PauseRequest>)

/** An invalid key is refused. If it were ignored, a repeated resume would resume a second time. */
const resumeMetadata = jsonObject.refine(
  ({ idempotencyKey: key }) => key === undefined || id.safeParse(key).success,
  { path: ['idempotencyKey'], error: 'must be text of 1 to 256 characters' },
)

export const resumeInput: z.ZodType<CheckedResumeRequest> = z.strictObject({
  taskId: id,
  handle: id.nullish(),
  input: json.optional(),
  continueTranscript: z.boolean().optional(),
  metadata: resumeMetadata.optional(),
} satisfies FieldsOf<CheckedResumeRequest>)

export const forkInput: z.ZodType<CheckedForkRequest> = z.strictObject({
  taskId: id,
  at: z.string().min(1, 'must name a step').max(1_024),
  input: json.optional(),
  paused: z.boolean().optional(),
  idempotencyKey: z.string().min(1).max(256).optional(),
} satisfies FieldsOf<CheckedForkRequest>)

export const parkInput: z.ZodType<ParkRequest> = z.strictObject({
  reason,
  summary: summary.optional(),
  conditions: resumeConditions.nullish(),
} satisfies FieldsOf<ParkRequest>)

export const parkTaskInput: z.ZodType<ParkTaskRequest> = z.strictObject({
  taskId: id,
  reason,
  summary: summary.optional(),
  conditions: resumeConditions.nullish(),
  metadata: jsonObject.optional(),
} satisfies FieldsOf<ParkTaskRequest>)

export const cancelInput: z.ZodType<CancelRequest> = z.strictObject({
  taskId: id,
  reason: reason.optional(),
  metadata: jsonObject.optional(),
} satisfies FieldsOf<CancelRequest>)

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
