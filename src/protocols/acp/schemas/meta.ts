/** Schemas of what Lull writes into `_meta`, of the `data` of its errors, and of members that other schemas share. */

import { z } from 'zod'
import { states } from '../../../core/states.ts'
import {
  resumeCause as cause,
  initiator,
  pauseMode,
  resumeCause,
  resumeConditions,
} from '../../../engine/input/inputs.ts'

export const sessionId: z.ZodString = z.string().min(1).max(256)
export const handle: z.ZodString = z.string().min(1).max(256)
/** The path of a file or directory. */
export const path: z.ZodString = z.string().max(4_096)
export const reason: z.ZodString = z.string().max(1_000)
export const summary: z.ZodString = z.string().max(4_000)
export const instant: z.ZodISODateTime = z.iso.datetime()
export const epoch: z.ZodNumber = z.number().int().positive()
export const meta: z.ZodType<Record<string, unknown> | null | undefined> = z
  .record(z.string(), z.unknown())
  .nullish()

/** The members of the RFC for a stop. */
export const stop: Readonly<Record<string, z.ZodType>> = {
  handle,
  reason: reason.optional(),
  initiator,
  suspendedAt: instant,
  resumeWhen: resumeConditions.optional(),
}

/** The members of the RFC for a wake. */
export const wake: Readonly<Record<string, z.ZodType>> = {
  handle,
  cause: resumeCause,
  hadResumeInput: z.boolean(),
  continueTranscript: z.boolean(),
  resumedAt: instant,
}

/** The member by which a request names its task, if the session has several. */
export const addressMeta: z.ZodType<{ lull?: { taskId?: string | undefined } | undefined }> =
  z.looseObject({
    lull: z.looseObject({ taskId: z.string().min(1).max(256).optional() }).optional(),
  })

/** `_meta.lull.suspend`: whether a task is stopped, and why. */
export const suspendMeta: z.ZodType = z.object({
  state: z.enum(['suspended', 'quiescing', 'active']),
  taskId: z.string(),
  handle: handle.optional(),
  epoch: z.number().int().nonnegative(),
  initiator: initiator.optional(),
  reason: reason.optional(),
  summary: summary.optional(),
  mode: pauseMode.optional(),
  requestedAt: instant.optional(),
  suspendedAt: instant.optional(),
  deadlineAt: instant.optional(),
  resumeWhen: resumeConditions.optional(),
  /**
   * Names of steps that were told to stop and did not. They may act although the task is stopped.
   */
  mayStillAct: z.array(z.string()).optional(),
  cause: cause.optional(),
  hadResumeInput: z.boolean().optional(),
  continueTranscript: z.boolean().optional(),
  resumedAt: instant.optional(),
  held: z.literal(true).optional(),
})

const taskFacts = {
  taskId: z.string(),
  state: z.enum(states as [string, ...string[]]),
  suspend: suspendMeta.optional(),
  question: z
    .object({ text: z.string(), consentId: z.string().optional(), expiresAt: instant.optional() })
    .optional(),
}

/** `_meta.lull` of updates and of results that concern one task. */
export const taskMeta: z.ZodType = z.object(taskFacts)

/** `_meta.lull` of a session. `suspend` belongs to the task that a wake without a handle resumes. */
export const sessionMeta: z.ZodType = z.object({
  suspend: suspendMeta.optional(),
  /** Present in the answer to a `session/resume` that woke a task. */
  wake: z.object(wake).optional(),
  tasks: z.array(z.object(taskFacts)),
})

/** The `SpanLink` of the RFC. */
const spanLink = z.object({ trace_id: z.string(), span_id: z.string() })

/** `_meta.harn.suspend`: the `WorkerSuspension` of the RFC, in snake_case. */
export const workerSuspensionMeta: z.ZodType = z.object({
  state: z.enum(['suspended', 'quiescing', 'active']),
  handle: handle.optional(),
  reason: z.string().nullish(),
  resume_when: z.record(z.string(), z.unknown()).nullish(),
  initiator: initiator.optional(),
  suspended_at_ms: z.number().int().optional(),
  pipeline_span_link: spanLink.nullish(),
  prior_span_link: spanLink.nullish(),
  parent_worker_id: z.string().nullish(),
  cause: cause.optional(),
})

/** `agentCapabilities._meta.lull`. A member is absent when no agent of the server supports it. */
export const capabilitiesMeta: z.ZodType = z.object({
  suspend: z
    .object({
      version: z.literal(1),
      methods: z.array(z.string()),
      modes: z.array(pauseMode),
      causes: z.array(cause),
      promptWhileSuspended: z.literal('wake'),
    })
    .optional(),
  reminders: z.object({ version: z.literal(1), methods: z.array(z.string()) }).optional(),
})

/** The `data` of errors. */
export const errorData: z.ZodType = z.looseObject({
  reason: z.string().optional(),
  path: z.string().optional(),
  problem: z.string().optional(),
  sessionId: z.string().optional(),
  taskId: z.string().optional(),
})
