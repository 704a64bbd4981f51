/** Schemas of the requests of clients, of their content blocks, and of the answers. */

import type { ContentBlock } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import {
  resumeCause as cause,
  pauseMode,
  receiptKind,
  receiptVerdict,
  reminderInput,
  resumeConditions,
  signatureKind,
} from '../../../engine/input/inputs.ts'
import { json } from '../../../engine/input/json-input.ts'
import { handle, instant, meta, path, reason, sessionId, summary } from './meta.ts'

const mediaType = z.string().max(256)
const mimeType = mediaType.nullable().exactOptional()
const uri = z.string().max(8_192)

/**
 * The schema of a prompt's content. It is stricter than that of the SDK: binary data must be
 * base64, and the number of blocks is limited.
 */
export const contentBlocks: z.ZodType<ContentBlock[]> = z
  .array(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text'), text: z.string() }),
      z.looseObject({ type: z.literal('image'), data: z.base64(), mimeType: mediaType }),
      z.looseObject({ type: z.literal('audio'), data: z.base64(), mimeType: mediaType }),
      z.looseObject({
        type: z.literal('resource_link'),
        uri: uri.min(1),
        name: z.string().max(1_024),
        mimeType,
      }),
      z.looseObject({
        type: z.literal('resource'),
        resource: z.union(
          [
            z.looseObject({ uri, text: z.string(), mimeType }),
            z.looseObject({ uri, blob: z.base64(), mimeType }),
          ],
          { error: 'must have text, or blob (base64)' },
        ),
      }),
    ]),
  )
  .max(256)

export const suspendRequest = z.strictObject({
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

export const wakeRequest = z.strictObject({
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

/**
 * `session/resume` of ACP with the members of the RFC. `cwd` is optional, because the RFC omits it.
 */
export const resumeRequest = z.looseObject({
  sessionId,
  cwd: path.min(1).optional(),
  mcpServers: z.array(z.looseObject({})).max(256).optional(),
  additionalDirectories: z.array(path).max(256).optional(),
  handle: handle.nullish(),
  input: json.optional(),
  continueTranscript: z.boolean().optional(),
  _meta: meta,
})

/** A client may also send the members of the reminder directly beside `sessionId`. */
export const injectReminderRequest = z.strictObject({
  sessionId,
  reminder: reminderInput,
  _meta: meta,
})

export const injectReminderResponse: z.ZodType = z.object({
  reminderId: z.string(),
  dedupedCount: z.number().int().nonnegative(),
  acceptedAt: instant,
  _meta: meta,
})

export const steeringRequest = z.looseObject({ sessionId, prompt: contentBlocks, _meta: meta })

export const receiptsRequest = z.strictObject({ sessionId, _meta: meta })

export const receiptsResponse: z.ZodType = z.object({
  taskId: z.string(),
  /** The number of records that were checked. */
  records: z.number().int().nonnegative(),
  /** The receipts as they were signed, each with the result of its check. */
  receipts: z.array(
    z.looseObject({
      seq: z.number().int().positive(),
      kind: receiptKind,
      number: z.number().int().positive(),
      at: z.number(),
      keyId: z.string(),
      verdict: receiptVerdict,
      /** The key that signed the receipt of the import that vouches for this one, and when. */
      vouchedBy: z.object({ keyId: z.string(), at: z.number() }).optional(),
      verifiedBy: z.array(signatureKind),
    }),
  ),
  verified: z.boolean(),
  faults: z.array(z.looseObject({ seq: z.number().int(), problem: z.string() })),
})

export const steeringResponse: z.ZodType = z.object({
  outcome: z.enum(['injected', 'startedNewTurn', 'promptRequired']),
  _meta: meta,
})
