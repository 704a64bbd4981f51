/** Notifications, updates and requests that Lull sends to clients. */
import { z } from 'zod'
import { resumeConditions } from '../../../engine/input/inputs.ts'
import { epoch, handle, instant, meta, reason, sessionId, stop, summary, wake } from './meta.ts'

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

/**
 * The client's acknowledgement. If it contains a handle, Lull accepts that as an alias of its own
 * handle.
 */
export const awaitResumptionResponse: z.ZodType<{ handle?: string | undefined }> = z.looseObject({
  handle: handle.optional(),
})

export const suspendedNotification: z.ZodType = z.object({
  sessionId,
  ...stop,
  epoch,
  summary: summary.optional(),
  deadlineAt: instant.optional(),
  _meta: meta,
})
export const resumedNotification: z.ZodType = z.object({ sessionId, ...wake, epoch, _meta: meta })
/** Updates that the RFC defines, for clients that declare it. */
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
