/**
 * Every shape of Lull's A2A extensions by its published name, with the method, frame or card that
 * it belongs to. The JSON Schemas in `spec/protocol-artifacts` are generated from this table, and
 * tests validate real answers with it.
 */

import { z } from 'zod'
import {
  consentAnswer,
  eventFilter,
  json,
  jsonObject,
  listReceiptsInput,
  listRemindersInput,
  pauseMode,
  receiptKind,
  receiptVerdict,
  reminderInput,
  resumeConditions,
  signatureKind,
} from '../../../engine/input/inputs.ts'
import { verbs } from '../../../engine/requests/verbs.ts'
import { type ExtensionMethod, extensionMethodList } from '../../../wire/a2a-extension-methods.ts'
import type { ReceiptReport } from '../../../wire/ops/logs.ts'
import { type FaultName, faults } from '../errors/faults.ts'
import {
  PROGRESS,
  RECEIPTS,
  REMINDERS,
  RFC_NOTIFICATIONS,
  STREAMS,
  TASK_CONTROL,
  USAGE,
  USER_CONSENT,
} from '../extensions.ts'
import { harnPause, harnReminder } from './harn-metadata.ts'
import {
  clearRemindersResult,
  injectReminderResult,
  listRemindersResult,
  reminder,
  remindersMetadata,
  remindersParams,
} from './reminders.ts'
import { rfcFrame } from './rfc-notifications.ts'
import {
  awaitResumptionResult,
  pauseCapabilities,
  pauseResult,
  resumeResult,
  state,
  taskControlMetadata,
  taskControlParams,
} from './task-control.ts'
import {
  progressMetadata,
  streamsMetadata,
  usageMetadata,
  userConsentMetadata,
  userConsentParams,
} from './task-metadata.ts'
import { id, instant } from './vocabulary.ts'

/** Errors of the extension methods: the `error` of JSON-RPC, in each version. */
const reason = z.enum(Object.keys(faults) as [FaultName, ...FaultName[]])

/** In 0.3: the reason of the fault and its details. Additional members are allowed. */
const errorData: z.ZodType = z.looseObject({
  reason,
  path: z.string().optional(),
  problem: z.string().optional(),
  taskId: z.string().optional(),
  state: z.string().optional(),
  why: z.string().optional(),
  cause: z.string().optional(),
  resumedAt: instant.optional(),
  handle: z.string().optional(),
  limit: z.union([z.number(), z.string()]).optional(),
})

/** In 1.0: the `data` of JSON-RPC and the `details` of REST. */
const errorDetails: z.ZodType = z.array(
  z.union([
    z.strictObject({
      '@type': z.literal('type.googleapis.com/google.rpc.ErrorInfo'),
      reason,
      domain: z.enum(['a2a-protocol.org', 'lull']),
      // Values that are not strings are serialised as JSON.
      metadata: z.record(z.string(), z.string()).exactOptional(),
    }),
    z.strictObject({
      '@type': z.literal('type.googleapis.com/google.rpc.BadRequest'),
      fieldViolations: z.array(z.strictObject({ field: z.string(), description: z.string() })),
    }),
  ]),
)

const error = { code: z.number().int(), message: z.string().min(1) }

const rpcErrorV03: z.ZodType = z.strictObject({ ...error, data: errorData })
const rpcErrorV1: z.ZodType = z.strictObject({ ...error, data: errorDetails })

/**
 * `urn:lull:a2a:receipts:1`: the signed receipts of a task, each with the result of the server's
 * check.
 */
const receipt = z.object({
  /** The number of its record in the log. */
  seq: z.number().int().positive(),
  version: z.literal(2).exactOptional(),
  kind: receiptKind,
  taskId: id,
  number: z.number().int().positive(),
  previous: z.string(),
  /** Epoch milliseconds. */
  at: z.number(),
  facts: jsonObject,
  content: z.string().exactOptional(),
  keyId: z.string(),
  signature: z.string(),
  ed25519: z.string().exactOptional(),
  verdict: receiptVerdict,
  /** The key that signed the receipt of the import that vouches for this one, and when. */
  vouchedBy: z.object({ keyId: z.string(), at: z.number() }).exactOptional(),
  verifiedBy: z.array(signatureKind),
})

const listReceiptsResult: z.ZodType<ReceiptReport> = z.object({
  taskId: id,
  records: z.number().int().nonnegative(),
  receipts: z.array(receipt),
  verified: z.boolean(),
  faults: z.array(
    z.object({
      seq: z.number().int(),
      problem: z.string(),
      unknownKey: z.string().exactOptional(),
    }),
  ),
})

export interface MethodShapes {
  readonly method: string
  readonly rest: string
  readonly request: string
  readonly result: string
}

export interface Published {
  /** The name of the documentation page and of the schema file. */
  readonly name: string
  readonly uri?: string
  readonly methods?: readonly MethodShapes[]
  /** The shape that the metadata of tasks and status updates has under the URI. */
  readonly metadata?: string
  /** The shape of the extension's `params` on the card. */
  readonly card?: string
  readonly shapes: Readonly<Record<string, z.ZodType>>
}

/** Shapes that are parts of other shapes. Each schema file includes those that it needs. */
export const building: Readonly<Record<string, z.ZodType>> = {
  Json: json,
  JsonObject: jsonObject,
  Instant: instant,
  State: state,
  PauseMode: pauseMode,
  EventFilter: eventFilter,
  ResumeConditions: resumeConditions,
  ReminderInput: reminderInput,
  Reminder: reminder,
}

function methodsOf(name: ExtensionMethod['extension']): readonly MethodShapes[] {
  return extensionMethodList
    .filter(({ extension }) => extension === name)
    .map(({ method, verbs, action, shape }) => ({
      method,
      rest: `${verbs[0]} /tasks/{taskId}:${action}`,
      request: `${shape}Request`,
      result: `${shape}Result`,
    }))
}

export const published: readonly Published[] = [
  {
    name: 'task-control',
    uri: TASK_CONTROL,
    methods: methodsOf('task-control'),
    metadata: 'TaskControlMetadata',
    card: 'TaskControlParams',
    shapes: {
      PauseRequest: verbs.pause.input,
      PauseResult: pauseResult,
      ResumeRequest: verbs.resume.input,
      ResumeResult: resumeResult,
      AwaitResumptionRequest: verbs.park.input,
      AwaitResumptionResult: awaitResumptionResult,
      TaskControlMetadata: taskControlMetadata,
      TaskControlParams: taskControlParams,
      PauseCapabilities: pauseCapabilities,
    },
  },
  {
    name: 'reminders',
    uri: REMINDERS,
    methods: methodsOf('reminders'),
    metadata: 'RemindersMetadata',
    card: 'RemindersParams',
    shapes: {
      InjectReminderRequest: verbs.remind.input,
      InjectReminderResult: injectReminderResult,
      ListRemindersRequest: listRemindersInput,
      ListRemindersResult: listRemindersResult,
      ClearRemindersRequest: verbs.clearReminders.input,
      ClearRemindersResult: clearRemindersResult,
      RemindersMetadata: remindersMetadata,
      RemindersParams: remindersParams,
    },
  },
  {
    name: 'receipts',
    uri: RECEIPTS,
    methods: methodsOf('receipts'),
    shapes: { ListReceiptsRequest: listReceiptsInput, ListReceiptsResult: listReceiptsResult },
  },
  {
    name: 'usage',
    uri: USAGE,
    metadata: 'UsageMetadata',
    shapes: { UsageMetadata: usageMetadata },
  },
  {
    name: 'user-consent',
    uri: USER_CONSENT,
    metadata: 'UserConsentMetadata',
    card: 'UserConsentParams',
    shapes: {
      UserConsentMetadata: userConsentMetadata,
      ConsentAnswer: consentAnswer,
      UserConsentParams: userConsentParams,
    },
  },
  {
    name: 'rfc-notifications',
    uri: RFC_NOTIFICATIONS,
    shapes: { RfcNotification: rfcFrame },
  },
  {
    name: 'progress',
    uri: PROGRESS,
    metadata: 'ProgressMetadata',
    shapes: { ProgressMetadata: progressMetadata },
  },
  {
    name: 'streams',
    uri: STREAMS,
    metadata: 'StreamsMetadata',
    shapes: { StreamsMetadata: streamsMetadata },
  },
  {
    name: 'harn-tunnel',
    shapes: { HarnPause: harnPause, HarnReminder: harnReminder },
  },
  {
    name: 'errors',
    shapes: {
      ErrorData: errorData,
      ErrorDetails: errorDetails,
      RpcErrorV03: rpcErrorV03,
      RpcErrorV1: rpcErrorV1,
    },
  },
]
