/**
 * Reads what the extensions put into the metadata of tasks and frames. Peers of the first RFCs have the same under
 * `harn.pause`. Metadata is never deleted, so it counts only while the task is in the core state that it refines.
 */

import { isPaused, type State, states } from '../../core/states.ts'
import { pauseModes, resumeCauses } from '../../core/suspension.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { camelConditions } from '../../core/waiting/worker-suspension.ts'
import type {
  Consent,
  ExtendedState,
  PendingReminder,
  ReminderChange,
  Resumption,
  StreamState,
  Suspension,
  TaskState,
  Usage,
} from '../tasks/task-types.ts'
import { PROGRESS, REMINDERS, STREAMS, TASK_CONTROL, USAGE, USER_CONSENT } from './a2a-names.ts'
import {
  isTrue,
  omitUndefined,
  readMember,
  readNumber,
  readObject,
  readOneOf,
  readSomeStrings,
  readString,
  readStrings,
} from './json-members.ts'

/** @param wire the core state as the peer wrote it. The state of an extension refines it. */
export function readState(wire: string, metadata: JsonObject): TaskState {
  const core = readCoreState(wire)
  if (core === 'working') {
    const extended = readOneOf(readControl(metadata), 'state', states)
    return extended !== undefined && isPaused(extended) ? extended : core
  }
  if (core === 'auth-required' || core === 'input-required') {
    return readOneOf(readObject(metadata, USER_CONSENT), 'state', states) ?? core
  }
  return core
}

function readCoreState(wire: string): TaskState {
  const word = wire
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  const state = word === 'cancelled' ? 'canceled' : word
  return states.find((one) => one === state) ?? 'unknown'
}

/** @returns the core state of A2A 1.0 that contains the state */
export function toWireState(state: State): string {
  const core: Partial<Record<State, string>> = {
    'paused-by-client': 'working',
    'paused-by-agent': 'working',
    'user-consent-required': 'auth-required',
  }
  return `TASK_STATE_${(core[state] ?? state).toUpperCase().replaceAll('-', '_')}`
}

export function readExtendedState(state: TaskState, metadata: JsonObject): ExtendedState {
  const control = readControl(metadata)
  const isStopped = state === 'paused-by-client' || state === 'paused-by-agent'
  const pausing = state === 'working' && isTrue(control, 'pausing')
  const asksConsent = state === 'user-consent-required'
  return omitUndefined<ExtendedState>({
    suspension: isStopped || pausing ? readSuspension(control, pausing) : undefined,
    resumption: isStopped || pausing ? undefined : readResumption(control),
    consent: asksConsent ? readConsent(readObject(metadata, USER_CONSENT)) : undefined,
    usage: readUsage(readObject(metadata, USAGE)),
  })
}

function readUsage(value: JsonObject | undefined): Usage | undefined {
  if (value === undefined) return undefined
  const amount = (name: string): number => readNumber(value, name) ?? 0
  return {
    inputTokens: amount('inputTokens'),
    outputTokens: amount('outputTokens'),
    costUsd: amount('costUsd'),
  }
}

function readControl(metadata: JsonObject): JsonObject | undefined {
  return readObject(metadata, TASK_CONTROL) ?? readHarnPause(metadata)
}

function readSuspension(control: JsonObject | undefined, pausing: boolean): Suspension | undefined {
  const handle = readString(control, 'handle')
  if (handle === undefined) return undefined
  return omitUndefined<Suspension>({
    handle,
    pausing,
    initiator: readOneOf(control, 'initiator', ['client', 'agent']),
    epoch: readNumber(control, 'epoch'),
    reason: readString(control, 'reason'),
    summary: readString(control, 'summary'),
    mode: readOneOf(control, 'mode', pauseModes),
    requestedAt: readString(control, 'requestedAt'),
    pausedAt: readString(control, 'pausedAt'),
    deadlineAt: readString(control, 'deadlineAt'),
    conditions: readObject(control, 'conditions') as ResumeConditions | undefined,
    mayStillAct: readSomeStrings(control, 'mayStillAct'),
  })
}

function readResumption(control: JsonObject | undefined): Resumption | undefined {
  const cause = readOneOf(control, 'cause', resumeCauses)
  const previousState = readOneOf(control, 'previousState', states)
  if (cause === undefined || previousState === undefined) return undefined
  return {
    cause,
    previousState,
    hadResumeInput: isTrue(control, 'hadResumeInput'),
    continueTranscript: readMember(control, 'continueTranscript') !== false,
    resumedAt: readString(control, 'resumedAt') ?? '',
  }
}

function readConsent(value: JsonObject | undefined): Consent | undefined {
  const consentId = readString(value, 'consentId')
  if (consentId === undefined) return undefined
  return omitUndefined<Consent>({
    consentId,
    prompt: readString(value, 'prompt'),
    operation: readMember(value, 'operation'),
    digest: readString(value, 'digest'),
    scope: readMember(value, 'scope'),
    expiresAt: readString(value, 'expiresAt'),
  })
}

export function readProgress(metadata: JsonObject): number | undefined {
  return readNumber(readObject(metadata, PROGRESS), 'fraction')
}

const streamStates: readonly string[] = ['open', 'recorded', 'discarded']

export function readStreamState(metadata: JsonObject | undefined): StreamState | undefined {
  const state = readString(readObject(metadata, STREAMS), 'state')
  return state !== undefined && streamStates.includes(state) ? (state as StreamState) : undefined
}

export function readReminderChange(metadata: JsonObject): ReminderChange | undefined {
  const change = readObject(metadata, REMINDERS)
  if (change === undefined) return undefined
  const reminder = readObject(change, 'reminder')
  if (readString(change, 'event') === 'emitted' && reminder !== undefined) {
    return { event: 'emitted', reminder: readReminder(reminder) }
  }
  if (readString(change, 'event') === 'deduped') return readDeduped(change, 'by', 'displaced')
  return readString(change, 'event') === 'expired' ? readExpired(change) : undefined
}

/** @param by the member with the new reminder @param displaced the member with the reminders that it replaced */
export function readDeduped(from: JsonObject, by: string, displaced: string): ReminderChange {
  return {
    event: 'deduped',
    dedupeKey: readString(from, 'dedupeKey') ?? '',
    by: readString(from, by) ?? '',
    displaced: readStrings(from, displaced),
  }
}

export function readExpired(from: JsonObject): ReminderChange {
  const reasons = ['ttl', 'compaction', 'cleared', 'task_ended'] as const
  return {
    event: 'expired',
    reminderId: readString(from, 'reminderId') ?? '',
    reason: readOneOf(from, 'reason', reasons) ?? 'cleared',
  }
}

export function readReminder(value: JsonObject): PendingReminder {
  const preserve = readMember(value, 'preserveOnCompact')
  return omitUndefined<PendingReminder>({
    id: readString(value, 'id') ?? '',
    body: readString(value, 'body') ?? '',
    tags: readStrings(value, 'tags'),
    dedupeKey: readString(value, 'dedupeKey'),
    ttlTurns: readNumber(value, 'ttlTurns'),
    preserveOnCompact: typeof preserve === 'boolean' ? preserve : undefined,
    propagate: readOneOf(value, 'propagate', ['session', 'none', 'all']),
    roleHint: readOneOf(value, 'roleHint', ['system', 'developer']),
    source: readString(value, 'source'),
    firedAtTurn: readNumber(value, 'firedAtTurn'),
    mode: readOneOf(value, 'mode', pauseModes),
    inheritedFrom: readString(value, 'inheritedFrom'),
    metadata: readObject(value, 'metadata'),
    acceptedAt: readString(value, 'acceptedAt'),
  })
}

/** Converts `metadata.harn.pause` of peers without the extension to the shape of the extension. */
function readHarnPause(metadata: JsonObject): JsonObject | undefined {
  const pause = readObject(readObject(metadata, 'harn'), 'pause')
  const handle = readString(pause, 'handle')
  const state = readString(pause, 'state')
  if (pause === undefined || handle === undefined || state === undefined) return undefined
  const initiator = readString(pause, 'initiator') === 'agent' ? 'agent' : 'client'
  const at = readNumber(pause, 'suspended_at_ms')
  const when = readObject(pause, 'resume_when')
  return omitUndefined<Record<string, JsonObject[string]>>({
    // Some peers send `paused` and name the initiator separately.
    state: state === 'paused' ? `paused-by-${initiator}` : state,
    pausing: readMember(pause, 'pausing'),
    handle,
    initiator,
    reason: readString(pause, 'reason'),
    pausedAt:
      at === undefined || !(Math.abs(at) <= LAST_MS) ? undefined : new Date(at).toISOString(),
    conditions: camelConditions(when) as JsonObject | undefined,
  })
}

/** The latest instant of a `Date`. */
const LAST_MS = 8_640_000_000_000_000
