/**
 * The methods of the ACP extension, with their shapes by published name. The JSON Schemas in
 * `spec/protocol-artifacts` are generated from this list.
 */

import type { z } from 'zod'
import {
  eventFilter,
  json,
  pauseMode,
  reminderInput,
  resumeConditions,
} from '../../engine/input/inputs.ts'
import { inbound, outbound } from './names.ts'
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

export interface MethodShapes {
  readonly from: 'client' | 'agent'
  /** The names of the method. The first one conforms to ACP. */
  readonly names: readonly string[]
  readonly params: string
  /** The shape of the result. Absent for a notification. */
  readonly result?: string
}

export interface Published {
  /** The name of the documentation page and of the schema file. */
  readonly name: string
  readonly methods: readonly MethodShapes[]
  readonly shapes: Readonly<Record<string, z.ZodType>>
}

/** Shapes that are parts of other shapes. Each schema file includes those that it needs. */
export const building: Readonly<Record<string, z.ZodType>> = {
  Json: json,
  PauseMode: pauseMode,
  EventFilter: eventFilter,
  ResumeConditions: resumeConditions,
  ReminderInput: reminderInput,
}

/** A request. The names of its shapes begin alike. */
const request = (
  from: MethodShapes['from'],
  names: readonly string[],
  shape: string,
): MethodShapes => ({ from, names, params: `${shape}Request`, result: `${shape}Response` })

const notification = (name: string, shape: string): MethodShapes => ({
  from: 'agent',
  names: [name],
  params: `${shape}Notification`,
})

const reminders = {
  name: 'session-reminders',
  methods: [
    request('client', inbound.remind, 'SessionInjectReminder'),
    notification(outbound.reminder, 'SessionReminder'),
  ],
}

const steering = {
  name: 'session-steering',
  methods: [request('client', inbound.steer, 'SessionSteering')],
}

const receipts = {
  name: 'session-receipts',
  methods: [request('client', inbound.receipts, 'SessionReceipts')],
}

const awaitNames = [outbound.awaitResumption, outbound.awaitResumptionRfc]

const suspend = {
  name: 'session-suspend',
  methods: [
    request('client', inbound.suspend, 'SessionSuspend'),
    request('client', inbound.wake, 'SessionWake'),
    request('agent', awaitNames, 'SessionAwaitResumption'),
    notification(outbound.suspended, 'SessionSuspended'),
    notification(outbound.resumed, 'SessionResumed'),
    notification(outbound.turnEnded, 'SessionTurnEnded'),
  ],
}

const named = (methods: readonly MethodShapes[]): readonly string[] =>
  methods.flatMap(({ params, result }) => (result === undefined ? [params] : [params, result]))

function shapesOf(names: readonly string[]): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries(acpSchemas).filter(([name]) => names.includes(name)))
}

const elsewhere = [reminders, steering, receipts].flatMap(({ methods }) => named(methods))

/**
 * Every page with its shapes. Shapes that belong to no other page are on the page about suspending.
 */
export const published: readonly Published[] = [
  {
    ...suspend,
    shapes: shapesOf(Object.keys(acpSchemas).filter((name) => !elsewhere.includes(name))),
  },
  { ...reminders, shapes: shapesOf(named(reminders.methods)) },
  { ...steering, shapes: shapesOf(named(steering.methods)) },
  { ...receipts, shapes: shapesOf(named(receipts.methods)) },
]
