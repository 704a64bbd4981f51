/**
 * The schemas of Lull's ACP extension. Requests are parsed with them, and the published JSON
 * Schemas are generated from them.
 */
import type { z } from 'zod'
import {
  addressMeta,
  capabilitiesMeta,
  errorData,
  sessionMeta,
  suspendMeta,
  taskMeta,
  workerSuspensionMeta,
} from './schemas/meta.ts'
import {
  awaitResumptionRequest,
  awaitResumptionResponse,
  reminderNotification,
  resumedNotification,
  resumedUpdate,
  suspendedNotification,
  suspendedUpdate,
  turnEndedNotification,
} from './schemas/notifications.ts'
import {
  injectReminderRequest,
  injectReminderResponse,
  receiptsRequest,
  receiptsResponse,
  resumeRequest,
  steeringRequest,
  steeringResponse,
  suspendRequest,
  suspendResponse,
  wakeRequest,
  wakeResponse,
} from './schemas/requests.ts'

/** The schemas by published name. */
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
  SessionReceiptsRequest: receiptsRequest,
  SessionReceiptsResponse: receiptsResponse,
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
