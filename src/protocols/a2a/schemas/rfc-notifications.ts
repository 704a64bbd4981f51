/** `urn:lull:a2a:rfc-notifications:1`: the JSON-RPC notifications of the PAUSED and reminder RFCs, on 0.3 streams. */
import { z } from 'zod'
import {
  expiryReason,
  initiator,
  jsonObject,
  resumeConditions,
} from '../../../engine/input/inputs.ts'
import { pausedState, resumed, state } from './task-control.ts'
import { handle, id, instant, reason, type ShapeOf } from './vocabulary.ts'

export type PausedUpdate = ShapeOf<typeof pausedUpdate>

const pausedUpdate = z.strictObject({
  taskId: id,
  state: pausedState,
  handle,
  reason: reason.exactOptional(),
  initiator,
  pausedAt: instant,
  conditions: resumeConditions.nullable(),
})

export type ResumedUpdate = ShapeOf<typeof resumedUpdate>

const resumedUpdate = z.strictObject({ taskId: id, state, ...resumed })

/** A reminder as the notification of the RFC contains it. */
const emittedReminder = z.strictObject({
  id,
  body: z.string(),
  tags: z.array(z.string()),
  dedupeKey: z.string().exactOptional(),
  source: z.string().exactOptional(),
  firedAtTurn: z.number().int().min(0).exactOptional(),
})

const jsonrpc = z.literal('2.0')

/** A notification as a complete frame. */
export const rfcFrame = z.discriminatedUnion('method', [
  z.strictObject({
    jsonrpc,
    method: z.literal('tasks/statusUpdate'),
    params: z.union([pausedUpdate, resumedUpdate]),
  }),
  z.strictObject({
    jsonrpc,
    method: z.literal('tasks/reminderEmitted'),
    params: z.strictObject({ taskId: id, reminder: emittedReminder, metadata: jsonObject }),
  }),
  z.strictObject({
    jsonrpc,
    method: z.literal('tasks/reminderDeduped'),
    params: z.strictObject({
      taskId: id,
      reminderId: id,
      dedupeKey: z.string(),
      displacedIds: z.array(id),
    }),
  }),
  z.strictObject({
    jsonrpc,
    method: z.literal('tasks/reminderExpired'),
    params: z.strictObject({ taskId: id, reminderId: id, reason: expiryReason }),
  }),
])

type WithoutVersion<F> = F extends unknown ? Omit<F, 'jsonrpc'> : never

/** A notification without the members that every frame has. */
export type RfcNotification = WithoutVersion<ShapeOf<typeof rfcFrame>>
