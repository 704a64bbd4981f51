/**
 * `metadata.harn`, outbound: the migration path of the RFCs. Names are snake_case, as Harn peers
 * expect.
 */
import { z } from 'zod'
import {
  resumeCause as cause,
  initiator,
  json,
  jsonObject,
  onTimeout,
  pauseMode,
  propagate,
  roleHint,
  since,
} from '../../../engine/input/inputs.ts'
import { handle, id } from './vocabulary.ts'

const resumeWhen = z.strictObject({
  on_event: z.string().optional(),
  trigger: jsonObject.optional(),
  timeout: z
    .strictObject({
      duration_minutes: z.number().positive(),
      on_timeout: onTimeout.optional(),
      input: json.optional(),
    })
    .optional(),
  since: since.optional(),
})

const spanLink = z.strictObject({ trace_id: z.string(), span_id: z.string() })

const workerSuspension = {
  handle,
  reason: z.string().optional(),
  resume_when: resumeWhen.optional(),
  initiator,
  suspended_at_ms: z.number().int(),
  pipeline_span_link: spanLink.optional(),
  prior_span_link: spanLink.optional(),
  parent_worker_id: z.string().optional(),
}

/** `metadata.harn.pause`. */
export const harnPause: z.ZodType = z.union([
  z.strictObject({
    state: z.enum(['paused-by-client', 'paused-by-agent']),
    ...workerSuspension,
  }),
  z.strictObject({
    state: z.literal('working'),
    pausing: z.literal(true),
    ...workerSuspension,
  }),
  z.strictObject({
    state: z.literal('active'),
    handle: handle.optional(),
    cause: cause.optional(),
  }),
])

/** `metadata.harn.reminder`. For inbound reminders only `body` is required. */
export const harnReminder: z.ZodType = z.strictObject({
  id: id.optional(),
  body: z.string().min(1).max(16_384),
  tags: z.array(z.string()).optional(),
  dedupe_key: z.string().min(1).optional(),
  ttl_turns: z.number().int().positive().optional(),
  preserve_on_compact: z.boolean().optional(),
  propagate: propagate.optional(),
  role_hint: roleHint.optional(),
  source: z.string().optional(),
  fired_at_turn: z.number().int().min(0).optional(),
  mode: pauseMode.optional(),
})
