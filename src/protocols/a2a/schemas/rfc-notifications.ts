/** `urn:lull:a2a:rfc-notifications:1`: the JSON-RPC notifications of the PAUSED and reminder RFCs, on 0.3 streams. */

import { z } from 'zod'
import type { ExpiryReason } from '../../../core/reminders/reminders.ts'
import type { State } from '../../../core/states.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { ResumeConditions } from '../../../core/waiting/conditions.ts'
import {
  expiryReason,
  initiator,
  jsonObject,
  resumeConditions,
} from '../../../engine/input/inputs.ts'
import { type ResumeFacts, resumed, state } from './task-control.ts'
import { exactly, handle, id, instant, reason } from './vocabulary.ts'

export interface PausedUpdate {
  readonly taskId: string
  readonly state: 'paused-by-client' | 'paused-by-agent'
  readonly handle: string
  readonly reason?: string
  readonly initiator: Suspension['initiator']
  readonly pausedAt: string
  readonly conditions: ResumeConditions | null
}

export interface ResumedUpdate extends ResumeFacts {
  readonly taskId: string
  readonly state: State
}

/** A reminder as the notification of the RFC contains it. */
export interface EmittedReminder {
  readonly id: string
  readonly body: string
  readonly tags: readonly string[]
  readonly dedupeKey?: string
  readonly source?: string
  readonly firedAtTurn?: number
}

export type RfcNotification =
  | { readonly method: 'tasks/statusUpdate'; readonly params: PausedUpdate | ResumedUpdate }
  | {
      readonly method: 'tasks/reminderEmitted'
      readonly params: {
        readonly taskId: string
        readonly reminder: EmittedReminder
        readonly metadata: JsonObject
      }
    }
  | {
      readonly method: 'tasks/reminderDeduped'
      readonly params: {
        readonly taskId: string
        readonly reminderId: string
        readonly dedupeKey: string
        readonly displacedIds: readonly string[]
      }
    }
  | {
      readonly method: 'tasks/reminderExpired'
      readonly params: {
        readonly taskId: string
        readonly reminderId: string
        readonly reason: ExpiryReason
      }
    }

const statusUpdate = z.union([
  z.strictObject({
    taskId: id,
    state: z.enum(['paused-by-client', 'paused-by-agent']),
    handle,
    reason: reason.exactOptional(),
    initiator,
    pausedAt: instant,
    conditions: resumeConditions.nullable(),
  }),
  z.strictObject({ taskId: id, state, ...resumed }),
])

const reminderEmitted = z.strictObject({
  taskId: id,
  reminder: z.strictObject({
    id,
    body: z.string(),
    tags: z.array(z.string()),
    dedupeKey: z.string().exactOptional(),
    source: z.string().exactOptional(),
    firedAtTurn: z.number().int().min(0).exactOptional(),
  }),
  metadata: jsonObject,
})

const reminderDeduped = z.strictObject({
  taskId: id,
  reminderId: id,
  dedupeKey: z.string(),
  displacedIds: z.array(id),
})

const reminderExpired = z.strictObject({ taskId: id, reminderId: id, reason: expiryReason })

/** A notification as a complete frame. */
export type RfcFrame = RfcNotification & { readonly jsonrpc: '2.0' }

const jsonrpc = z.literal('2.0')

export const rfcFrame: z.ZodType<RfcFrame> = exactly<RfcFrame>()(
  z.discriminatedUnion('method', [
    z.strictObject({ jsonrpc, method: z.literal('tasks/statusUpdate'), params: statusUpdate }),
    z.strictObject({
      jsonrpc,
      method: z.literal('tasks/reminderEmitted'),
      params: reminderEmitted,
    }),
    z.strictObject({
      jsonrpc,
      method: z.literal('tasks/reminderDeduped'),
      params: reminderDeduped,
    }),
    z.strictObject({
      jsonrpc,
      method: z.literal('tasks/reminderExpired'),
      params: reminderExpired,
    }),
  ]),
)
