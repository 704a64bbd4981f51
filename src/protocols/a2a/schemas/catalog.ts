/**
 * Every shape of Lull's A2A extensions by its published name, with the method, frame or card that
 * it belongs to. The JSON Schemas in `spec/protocol-artifacts` are generated from this table, and
 * tests validate real answers with it.
 */
import type { z } from 'zod'
import {
  consentAnswer,
  eventFilter,
  json,
  jsonObject,
  listReceiptsInput,
  listRemindersInput,
  pauseMode,
  reminderInput,
  resumeConditions,
} from '../../../engine/input/inputs.ts'
import { verbs } from '../../../engine/requests/verbs.ts'
import { type ExtensionMethod, extensionMethodList } from '../../../wire/a2a-extension-methods.ts'
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
import { errorData, errorDetails, rpcErrorV1, rpcErrorV03 } from './errors.ts'
import { harnPause, harnReminder } from './harn.ts'
import { progressMetadata } from './progress.ts'
import { listReceiptsResult } from './receipts.ts'
import {
  clearRemindersResult,
  injectReminderResult,
  listRemindersResult,
  reminder,
  remindersMetadata,
  remindersParams,
} from './reminders.ts'
import { rfcFrame } from './rfc-notifications.ts'
import { streamsMetadata } from './streams.ts'
import {
  awaitResumptionResult,
  pauseCapabilities,
  pauseResult,
  resumeResult,
  state,
  taskControlMetadata,
  taskControlParams,
} from './task-control.ts'
import { usageMetadata } from './usage.ts'
import { userConsentMetadata, userConsentParams } from './user-consent.ts'
import { instant } from './vocabulary.ts'

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
