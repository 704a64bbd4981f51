/**
 * The shapes of what callers and agents hand in. Parsed once, here, before anything is decided or written; a mistake is
 * refused with the dotted path and a sentence. Protocol schemas are generated from these same definitions.
 */
import { z } from 'zod'
import type { CloudEvent } from '../core/cloud-event.ts'
import type { EventFilter, ResumeConditions } from '../core/conditions.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Artifact, Message, Part } from '../core/message.ts'
import type { Decision, UsageReport } from '../core/records.ts'
import { states } from '../core/states.ts'
import type { PauseMode } from '../core/suspension.ts'
import type { TranscriptEntry } from '../core/transcript.ts'
import type { AskOptions, ConsentRequest, StepOptions } from './agent-task.ts'
import { json } from './json-input.ts'
import type {
  CancelRequest,
  ClearRemindersRequest,
  HoldRequest,
  ListRequest,
  ParkRequest,
  ParkTaskRequest,
  PauseRequest,
  ReminderRequest,
  RemindRequest,
  ResumeRequest,
  SendRequest,
} from './requests.ts'

export { json }

export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json)

const text = z.string()
const id = text.min(1).max(256)

const partFacts = {
  mediaType: text.optional(),
  filename: text.optional(),
  metadata: jsonObject.optional(),
}

export const part: z.ZodType<Part> = z.union(
  [
    z.strictObject({ text, ...partFacts }),
    z.strictObject({ data: json, ...partFacts }),
    z.strictObject({ raw: z.base64(), ...partFacts }),
    z.strictObject({ url: text.min(1), ...partFacts }),
  ],
  { error: 'must have exactly one of text, data, raw (base64) or url' },
) as z.ZodType<Part>

/** What an agent says about an artifact beside its parts. */
type ArtifactFacts = Partial<Pick<Artifact, 'artifactId' | 'name' | 'description' | 'metadata'>>

export const artifactFacts: z.ZodType<ArtifactFacts> = z.object({
  artifactId: id.optional(),
  name: text.optional(),
  description: text.optional(),
  metadata: jsonObject.optional(),
}) as z.ZodType<ArtifactFacts>

export const message: z.ZodType<Message> = z.object({
  messageId: id,
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(part).min(1).max(256),
  contextId: id.optional(),
  taskId: id.optional(),
  referenceTaskIds: z.array(id).max(256).optional(),
  extensions: z.array(text).optional(),
  metadata: jsonObject.optional(),
}) as z.ZodType<Message>

const attributes = (value: z.ZodType): z.ZodType =>
  z
    .record(text.min(1), value)
    .refine((wants) => Object.keys(wants).length > 0, 'must name at least one attribute')
    .meta({ minProperties: 1 })

export const eventFilter: z.ZodType<EventFilter> = z.lazy(() =>
  z.union(
    [
      z.strictObject({ exact: attributes(json) }),
      z.strictObject({ prefix: attributes(text.min(1)) }),
      z.strictObject({ suffix: attributes(text.min(1)) }),
      z.strictObject({ all: z.array(eventFilter).min(1) }),
      z.strictObject({ any: z.array(eventFilter).min(1) }),
      z.strictObject({ not: eventFilter }),
    ],
    { error: 'must be exactly one of exact, prefix, suffix, all, any, not' },
  ),
) as z.ZodType<EventFilter>

/** As patterns, which the published schemas can say too. */
const NOT_BLANK = /\S/
const BLANK = 'must not be blank'

const instant = z.iso.datetime({ offset: true, error: 'must be an ISO 8601 instant' })

export const resumeConditions: z.ZodType<ResumeConditions> = z.strictObject({
  onEvent: text
    .regex(/^[^\p{Cc}\p{Cn}]{1,256}$/u, 'must be 1 to 256 printable characters')
    .regex(NOT_BLANK, BLANK)
    .optional(),
  trigger: z
    .union(
      [
        z.strictObject({ filter: eventFilter }),
        z.strictObject({
          schedule: z.strictObject({ cron: text.min(1), timezone: text.min(1).optional() }),
        }),
        z.strictObject({ at: instant }),
      ],
      { error: 'must be an object with exactly one of filter, schedule, at' },
    )
    .optional(),
  timeout: z
    .strictObject({
      durationMinutes: z.number().positive('must be greater than 0').max(527_040_000),
      onTimeout: z.enum(['resume_with_summary', 'fail', 'resume_with_input']).optional(),
      input: json.optional(),
    })
    .optional(),
  since: z.enum(['task', 'now']).optional(),
}) as z.ZodType<ResumeConditions>

export const pauseMode: z.ZodType<PauseMode> = z.enum([
  'interrupt_immediate',
  'finish_step',
  'wait_for_completion',
])

const reason = text.max(1_000, 'must be at most 1,000 characters')
const summary = text.max(4_000, 'must be at most 4,000 characters')

/** A caller may wait this long for a pause to commit. */
const GRACE_LIMIT_MS = 60_000

export const pauseInput: z.ZodType<PauseRequest> = z.strictObject({
  taskId: id,
  reason: reason.optional(),
  mode: pauseMode.optional(),
  conditions: resumeConditions.nullish(),
  graceMs: z.number().int().min(0).max(GRACE_LIMIT_MS, 'must be at most 60000').optional(),
  cascade: z.boolean().optional(),
  metadata: jsonObject.optional(),
})

/** A key that is none would silently make of a repeated resume a second one. */
const resumeMetadata = jsonObject.refine(
  ({ idempotencyKey: key }) => key === undefined || id.safeParse(key).success,
  { path: ['idempotencyKey'], error: 'must be text of 1 to 256 characters' },
)

export const resumeInput: z.ZodType<ResumeRequest> = z.strictObject({
  taskId: id,
  handle: text.min(1).nullish(),
  input: json.optional(),
  continueTranscript: z.boolean().optional(),
  metadata: resumeMetadata.optional(),
})

export const parkInput: z.ZodType<ParkRequest> = z.strictObject({
  reason,
  summary: summary.optional(),
  conditions: resumeConditions.nullish(),
})

export const parkTaskInput: z.ZodType<ParkTaskRequest> = z.strictObject({
  taskId: id,
  reason,
  summary: summary.optional(),
  conditions: resumeConditions.nullish(),
  metadata: jsonObject.optional(),
})

const epochMs = z.number().int().min(0).max(8_640_000_000_000_000)

const notNegative = z.number().nonnegative()

export const stepOptionsInput: z.ZodType<StepOptions> = z.strictObject({
  retry: z
    .strictObject({
      attempts: z.number().int().nonnegative(),
      backoffMs: notNegative.optional(),
      factor: z.number().min(1).optional(),
      maxBackoffMs: notNegative.optional(),
    })
    .optional(),
  timeoutMs: z.number().positive().optional(),
  key: text.min(1).optional(),
  added: z.boolean().optional(),
}) as z.ZodType<StepOptions>

export const askOptionsInput: z.ZodType<AskOptions> = z.strictObject({
  expiresAt: epochMs.optional(),
}) as z.ZodType<AskOptions>

export const consentInput: z.ZodType<ConsentRequest> = z.strictObject({
  prompt: text.min(1),
  operation: json,
  scope: json.optional(),
  expiresAt: epochMs.optional(),
}) as z.ZodType<ConsentRequest>

/** What an answer to a consent must have to be one; it may say more. */
export const consentAnswer: z.ZodType<{ consentId: string; decision: Decision }> = z.object({
  consentId: id,
  decision: z.enum(['granted', 'denied']),
})

const amount = z.number().min(0).optional()
export const usageInput: z.ZodType<UsageReport> = z.strictObject({
  inputTokens: amount,
  outputTokens: amount,
  costUsd: amount,
  contextWindow: z.number().positive('must be greater than 0').optional(),
}) as z.ZodType<UsageReport>

export const transcriptInput: z.ZodType<{ role: 'agent' | 'tool'; content: Json }> = z.strictObject(
  {
    role: z.enum(['agent', 'tool']),
    content: json,
  },
)

/** What an agent's `compact` gives. */
export const transcriptEntriesInput: z.ZodType<readonly TranscriptEntry[]> = z.array(
  z.strictObject({
    turn: z.int().min(0),
    role: z.enum(['user', 'agent', 'tool', 'digest']),
    content: json,
  }),
)

export const cancelInput: z.ZodType<CancelRequest> = z.strictObject({
  taskId: id,
  reason: reason.optional(),
  metadata: jsonObject.optional(),
})

/** What marks a reminder: ids, tags, keys and sources are shown and compared, never read as text. */
const mark = text.max(256, 'must be at most 256 characters').regex(NOT_BLANK, BLANK)
const TAGS_LIMIT = 32
const METADATA_LIMIT = 16_384

export const reminderInput: z.ZodType<ReminderRequest> = z.strictObject({
  id: mark.optional(),
  body: text.max(16_384, 'must be at most 16,384 characters').regex(NOT_BLANK, BLANK),
  tags: z.array(mark).max(TAGS_LIMIT, `must be at most ${TAGS_LIMIT} tags`).optional(),
  dedupeKey: mark.nullish(),
  ttlTurns: z.number().int().positive('must be greater than 0').nullish(),
  preserveOnCompact: z.boolean().optional(),
  propagate: z.enum(['session', 'none', 'all']).optional(),
  roleHint: z.enum(['system', 'developer']).optional(),
  source: mark.nullish(),
  firedAtTurn: z.number().int().min(0).nullish(),
  mode: pauseMode.optional(),
})

export const remindInput: z.ZodType<RemindRequest> = z.strictObject({
  taskId: id,
  reminder: reminderInput,
  metadata: jsonObject
    .refine(
      (given) => JSON.stringify(given).length <= METADATA_LIMIT,
      'must be at most 16,384 characters of JSON',
    )
    .optional(),
})

export const listRemindersInput: z.ZodType<{ taskId: string }> = z.strictObject({ taskId: id })

export const clearRemindersInput: z.ZodType<ClearRemindersRequest> = z.strictObject({
  taskId: id,
  id: id.optional(),
  tag: text.optional(),
  dedupeKey: text.optional(),
})

export const sendInput: z.ZodType<SendRequest> = z.strictObject({
  agent: id.optional(),
  message,
  /** An explicit idempotency key; without one a UUID `messageId` counts as one. */
  idempotencyKey: id.optional(),
  metadata: jsonObject.optional(),
  origin: text.optional(),
  reminders: z.array(reminderInput).optional(),
})

/** Extension attributes: CloudEvents 1.0.2 §"Type System", as far as JSON shows it. */
const attribute = z.union([text, z.boolean(), z.int32()], {
  error: 'must be a string, a boolean or a 32-bit integer; what is larger belongs into data',
})
const ATTRIBUTE_NAME = /^[a-z0-9]{1,256}$/
const uriReference = text.min(1).max(2_048)

/** `null` is how the JSON format spells an attribute that is not there. */
function withoutNulls(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return event
  const entries = Object.entries(event)
  return Object.fromEntries(entries.filter(([name, value]) => value !== null || name === 'data'))
}

export const cloudEvent: z.ZodType<CloudEvent> = z.preprocess(
  withoutNulls,
  z
    .object({
      specversion: z.literal('1.0').optional(),
      id,
      source: uriReference,
      type: id,
      subject: text.min(1).max(2_048).optional(),
      time: instant.optional(),
      datacontenttype: text.min(1).max(256).optional(),
      dataschema: uriReference.optional(),
      data: json.optional(),
      data_base64: z.base64().optional(),
    })
    .catchall(attribute)
    .superRefine((event, problems) => {
      const wrong = (name: string, message: string): void =>
        problems.addIssue({ code: 'custom', path: [name], message })
      for (const name of Object.keys(event)) {
        if (name === 'data_base64' || ATTRIBUTE_NAME.test(name)) continue
        wrong(name, 'is no name of an attribute: they have lower-case letters and digits only')
      }
      if (event.data !== undefined && event.data_base64 !== undefined) {
        wrong('data_base64', 'must not be there together with data')
      }
    }),
) as z.ZodType<CloudEvent>

export const waitInput: z.ZodType<{ timeoutMs?: number | undefined }> = z.object({
  timeoutMs: z.number().or(z.literal(Number.POSITIVE_INFINITY)).optional(),
})

export const subscribeInput: z.ZodType<{ after?: number | undefined }> = z.object({
  after: z.number().int().min(0).optional(),
})

export const holdInput: z.ZodType<HoldRequest> = z.strictObject({
  scope: z.union([
    z.strictObject({ all: z.literal(true) }),
    z.strictObject({ tenant: id }),
    z.strictObject({ tenant: id.optional(), agent: id }),
    z.strictObject({ tenant: id.optional(), contextId: id }),
    z.strictObject({ taskIds: z.array(id).min(1).max(10_000) }),
  ]),
  reason: reason.min(1),
  holdNew: z.boolean().optional(),
}) as z.ZodType<HoldRequest>

export const listInput: z.ZodType<ListRequest> = z.strictObject({
  agent: id.optional(),
  contextId: id.optional(),
  parentId: id.optional(),
  states: z.array(z.enum(states as [string, ...string[]])).optional(),
  held: z.boolean().optional(),
  statusAtFrom: z.number().optional(),
  cursor: text.optional(),
  limit: z.number().int().min(1).max(100).optional(),
}) as z.ZodType<ListRequest>
