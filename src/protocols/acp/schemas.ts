/**
 * The shapes of our extension: requests, results, notifications, metadata and errors. Requests are parsed with these, and
 * the published JSON Schemas are made from them.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import { states } from '../../core/states.ts'
import { resumeCauses } from '../../core/suspension.ts'
import { json, pauseMode, reminderInput, resumeConditions } from '../../engine/inputs.ts'

const sessionId = z.string().min(1).max(256)
const handle = z.string().min(1).max(256)
const reason = z.string().max(1_000)
const summary = z.string().max(4_000)
const instant = z.iso.datetime()
const initiator = z.enum(['client', 'agent'])
const cause = z.enum(resumeCauses as [string, ...string[]])
const epoch = z.number().int().positive()
const meta = z.record(z.string(), z.unknown()).nullish()

/** Which task of the session is meant, where it has several. */
export const addressMeta: z.ZodType<{ lull?: { taskId?: string | undefined } | undefined }> =
  z.looseObject({
    lull: z.looseObject({ taskId: z.string().min(1).max(256).optional() }).optional(),
  })

export const suspendRequest: z.ZodType<{
  sessionId: string
  reason?: string | undefined
  resumeWhen?: z.infer<typeof resumeConditions> | null | undefined
  mode?: z.infer<typeof pauseMode> | undefined
  _meta?: Record<string, unknown> | null | undefined
}> = z.strictObject({
  sessionId,
  reason: reason.optional(),
  resumeWhen: resumeConditions.nullish(),
  mode: pauseMode.optional(),
  _meta: meta,
})

export const suspendResponse: z.ZodType = z.object({
  handle,
  reason: reason.optional(),
  suspendedAt: instant,
  resumeWhen: resumeConditions.optional(),
  summary: summary.optional(),
  _meta: meta,
})

export const wakeRequest: z.ZodType<{
  sessionId: string
  handle?: string | null | undefined
  input?: z.infer<typeof json> | undefined
  continueTranscript?: boolean | undefined
  _meta?: Record<string, unknown> | null | undefined
}> = z.strictObject({
  sessionId,
  handle: handle.nullish(),
  input: json.optional(),
  continueTranscript: z.boolean().optional(),
  _meta: meta,
})

export const wakeResponse: z.ZodType = z.object({
  handle,
  cause,
  resumedAt: instant,
  hadResumeInput: z.boolean(),
  continueTranscript: z.boolean(),
  _meta: meta,
})

/** `session/resume` as it is, with the RFC's fields, and with a `cwd` that the RFC leaves out. */
export const resumeRequest: z.ZodType<{
  sessionId: string
  cwd?: string | undefined
  handle?: string | null | undefined
  input?: z.infer<typeof json> | undefined
  continueTranscript?: boolean | undefined
  _meta?: Record<string, unknown> | null | undefined
}> = z.looseObject({
  sessionId,
  cwd: z.string().min(1).optional(),
  mcpServers: z.array(z.looseObject({})).optional(),
  additionalDirectories: z.array(z.string()).optional(),
  handle: handle.nullish(),
  input: json.optional(),
  continueTranscript: z.boolean().optional(),
  _meta: meta,
})

/** The reminder under `reminder`; its fields may as well stand beside `sessionId`. */
export const injectReminderRequest: z.ZodType<{
  sessionId: string
  reminder: z.infer<typeof reminderInput>
  _meta?: Record<string, unknown> | null | undefined
}> = z.strictObject({ sessionId, reminder: reminderInput, _meta: meta })

export const injectReminderResponse: z.ZodType = z.object({
  reminderId: z.string(),
  dedupedCount: z.number().int().nonnegative(),
  acceptedAt: instant,
  _meta: meta,
})

const mimeType = z.string().nullish()

/** What a prompt may hold; the SDK checks less. */
export const contentBlocks: z.ZodType<ContentBlock[]> = z
  .array(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text'), text: z.string() }),
      z.looseObject({ type: z.literal('image'), data: z.base64(), mimeType: z.string() }),
      z.looseObject({ type: z.literal('audio'), data: z.base64(), mimeType: z.string() }),
      z.looseObject({
        type: z.literal('resource_link'),
        uri: z.string().min(1),
        name: z.string(),
        mimeType,
      }),
      z.looseObject({
        type: z.literal('resource'),
        resource: z.union(
          [
            z.looseObject({ uri: z.string(), text: z.string(), mimeType }),
            z.looseObject({ uri: z.string(), blob: z.base64(), mimeType }),
          ],
          { error: 'must have text, or blob (base64)' },
        ),
      }),
    ]),
  )
  .max(256) as unknown as z.ZodType<ContentBlock[]>

export const steeringRequest: z.ZodType<{
  sessionId: string
  prompt: ContentBlock[]
  _meta?: Record<string, unknown> | null | undefined
}> = z.looseObject({ sessionId, prompt: contentBlocks, _meta: meta })

export const steeringResponse: z.ZodType = z.object({
  outcome: z.enum(['injected', 'startedNewTurn', 'promptRequired']),
  _meta: meta,
})

export const awaitResumptionRequest: z.ZodType = z.object({
  sessionId,
  handle,
  reason,
  conditions: resumeConditions.optional(),
  summary: summary.optional(),
  deadlineAt: instant.optional(),
  epoch,
  _meta: meta,
})

/** An acknowledgement. A handle in it is accepted later as another name of ours. */
export const awaitResumptionResponse: z.ZodType<{ handle?: string | undefined }> = z.looseObject({
  handle: handle.optional(),
})

const stop = {
  handle,
  reason: reason.optional(),
  initiator,
  suspendedAt: instant,
  resumeWhen: resumeConditions.optional(),
}
const wake = {
  handle,
  cause,
  hadResumeInput: z.boolean(),
  continueTranscript: z.boolean(),
  resumedAt: instant,
}

export const suspendedNotification: z.ZodType = z.object({
  sessionId,
  ...stop,
  epoch,
  summary: summary.optional(),
  deadlineAt: instant.optional(),
  _meta: meta,
})
export const resumedNotification: z.ZodType = z.object({ sessionId, ...wake, epoch, _meta: meta })
/** The RFC's own updates, for clients that declare it. */
export const suspendedUpdate: z.ZodType = z.object({
  sessionUpdate: z.literal('suspended'),
  ...stop,
  _meta: meta,
})
export const resumedUpdate: z.ZodType = z.object({
  sessionUpdate: z.literal('resumed'),
  ...wake,
  _meta: meta,
})

export const reminderNotification: z.ZodType = z.object({
  sessionId,
  event: z.enum(['emitted', 'deduped', 'expired']),
  reminder: z.looseObject({ id: z.string(), body: z.string() }).optional(),
  reminderId: z.string().optional(),
  reason: z.string().optional(),
  dedupeKey: z.string().optional(),
  by: z.string().optional(),
  displaced: z.array(z.string()).optional(),
  _meta: meta,
})

export const turnEndedNotification: z.ZodType = z.object({
  sessionId,
  taskId: z.string(),
  stopReason: z.enum(['end_turn', 'cancelled', 'refusal']),
  error: z.object({ message: z.string() }).optional(),
  _meta: meta,
})

/** `_meta.lull.suspend`: how a task stands. */
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

/** `_meta.lull` of a session: `suspend` is that of the task a wake would mean. */
export const sessionMeta: z.ZodType = z.object({
  suspend: suspendMeta.optional(),
  /** Of a `session/resume` that woke it. */
  wake: z.object(wake).optional(),
  tasks: z.array(z.object(taskFacts)),
})

/** `_meta.harn.suspend`: the RFC's WorkerSuspension, snake_case. */
export const workerSuspensionMeta: z.ZodType = z.object({
  state: z.enum(['suspended', 'quiescing', 'active']),
  handle: handle.optional(),
  reason: z.string().nullish(),
  resume_when: z.record(z.string(), z.unknown()).nullish(),
  initiator: initiator.optional(),
  suspended_at_ms: z.number().int().optional(),
  pipeline_span_link: z.string().nullish(),
  prior_span_link: z.string().nullish(),
  parent_worker_id: z.string().nullish(),
  cause: cause.optional(),
})

/** `agentCapabilities._meta.lull`. A member is absent where no agent behind the connection offers it. */
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

/** `data` of our errors. */
export const errorData: z.ZodType = z.looseObject({
  reason: z.string().optional(),
  path: z.string().optional(),
  problem: z.string().optional(),
  sessionId: z.string().optional(),
  taskId: z.string().optional(),
})

/** All of them, by the name they are published under. */
export const acpSchemas: Readonly<Record<string, z.ZodType>> = {
  SessionSuspendRequest: suspendRequest,
  SessionSuspendResponse: suspendResponse,
  SessionWakeRequest: wakeRequest,
  SessionWakeResponse: wakeResponse,
  SessionResumeRequest: resumeRequest,
  SessionInjectReminderRequest: injectReminderRequest,
  SessionInjectReminderResponse: injectReminderResponse,
  SessionSteeringRequest: steeringRequest,
  SessionSteeringResponse: steeringResponse,
  SessionAwaitResumptionRequest: awaitResumptionRequest,
  SessionAwaitResumptionResponse: awaitResumptionResponse,
  SessionSuspendedNotification: suspendedNotification,
  SessionResumedNotification: resumedNotification,
  SessionReminderNotification: reminderNotification,
  SessionTurnEndedNotification: turnEndedNotification,
  SessionUpdateSuspended: suspendedUpdate,
  SessionUpdateResumed: resumedUpdate,
  TaskMeta: taskMeta,
  SessionMeta: sessionMeta,
  SuspendMeta: suspendMeta,
  WorkerSuspensionMeta: workerSuspensionMeta,
  CapabilitiesMeta: capabilitiesMeta,
  AddressMeta: addressMeta,
  ErrorData: errorData,
}
