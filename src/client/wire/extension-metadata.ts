/**
 * The state that extensions add in the metadata, and the same facts under `harn.pause` from peers of the first RFCs.
 * Metadata is never deleted, so it counts only while the core state is one that it refines.
 */
import type { ResumeConditions } from '../../core/conditions.ts'
import type { JsonObject } from '../../core/json.ts'
import { isPaused, type State, states } from '../../core/states.ts'
import { pauseModes, resumeCauses } from '../../core/suspension.ts'
import { PROGRESS, REMINDERS, STREAMS, TASK_CONTROL, USAGE, USER_CONSENT } from '../extensions.ts'
import { harnFacts } from '../harn-facts.ts'
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
import {
  isTrue,
  memberOf,
  numberIn,
  objectIn,
  present,
  someTextsIn,
  textIn,
  textsIn,
  wordIn,
} from './json-members.ts'

/** The state of the task. The state of an extension is more exact than the core state and wins. */
export function stateOf(wire: string, metadata: JsonObject): TaskState {
  const core = coreState(wire)
  if (core === 'working') {
    const said = wordIn(controlOf(metadata), 'state', states)
    return said !== undefined && isPaused(said) ? said : core
  }
  if (core === 'auth-required' || core === 'input-required') {
    return wordIn(objectIn(metadata, USER_CONSENT), 'state', states) ?? core
  }
  return core
}

function coreState(wire: string): TaskState {
  const word = wire
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  const state = word === 'cancelled' ? 'canceled' : word
  return states.find((one) => one === state) ?? 'unknown'
}

/** The core state of A2A 1.0 for a filter. */
export function toWireState(state: State): string {
  const core: Partial<Record<State, string>> = {
    'paused-by-client': 'working',
    'paused-by-agent': 'working',
    'user-consent-required': 'auth-required',
  }
  return `TASK_STATE_${(core[state] ?? state).toUpperCase().replaceAll('-', '_')}`
}

export function extendedState(state: TaskState, metadata: JsonObject): ExtendedState {
  const control = controlOf(metadata)
  const stopped = state === 'paused-by-client' || state === 'paused-by-agent'
  const pausing = state === 'working' && isTrue(control, 'pausing')
  const asked = state === 'user-consent-required'
  return present<ExtendedState>({
    suspension: stopped || pausing ? suspensionIn(control, pausing) : undefined,
    resumption: stopped || pausing ? undefined : resumptionIn(control),
    consent: asked ? consentIn(objectIn(metadata, USER_CONSENT)) : undefined,
    usage: usageIn(objectIn(metadata, USAGE)),
  })
}

function usageIn(facts: JsonObject | undefined): Usage | undefined {
  if (facts === undefined) return undefined
  const amount = (name: string): number => numberIn(facts, name) ?? 0
  return {
    inputTokens: amount('inputTokens'),
    outputTokens: amount('outputTokens'),
    costUsd: amount('costUsd'),
  }
}

function controlOf(metadata: JsonObject): JsonObject | undefined {
  return objectIn(metadata, TASK_CONTROL) ?? harnFacts(metadata)
}

function suspensionIn(control: JsonObject | undefined, pausing: boolean): Suspension | undefined {
  const handle = textIn(control, 'handle')
  if (handle === undefined) return undefined
  return present<Suspension>({
    handle,
    pausing,
    initiator: wordIn(control, 'initiator', ['client', 'agent']),
    epoch: numberIn(control, 'epoch'),
    reason: textIn(control, 'reason'),
    summary: textIn(control, 'summary'),
    mode: wordIn(control, 'mode', pauseModes),
    requestedAt: textIn(control, 'requestedAt'),
    pausedAt: textIn(control, 'pausedAt'),
    deadlineAt: textIn(control, 'deadlineAt'),
    conditions: objectIn(control, 'conditions') as ResumeConditions | undefined,
    mayStillAct: someTextsIn(control, 'mayStillAct'),
  })
}

function resumptionIn(control: JsonObject | undefined): Resumption | undefined {
  const cause = wordIn(control, 'cause', resumeCauses)
  const previousState = wordIn(control, 'previousState', states)
  if (cause === undefined || previousState === undefined) return undefined
  return {
    cause,
    previousState,
    hadResumeInput: isTrue(control, 'hadResumeInput'),
    continueTranscript: memberOf(control, 'continueTranscript') !== false,
    resumedAt: textIn(control, 'resumedAt') ?? '',
  }
}

function consentIn(given: JsonObject | undefined): Consent | undefined {
  const consentId = textIn(given, 'consentId')
  if (consentId === undefined) return undefined
  return present<Consent>({
    consentId,
    prompt: textIn(given, 'prompt'),
    operation: memberOf(given, 'operation'),
    digest: textIn(given, 'digest'),
    scope: memberOf(given, 'scope'),
    expiresAt: textIn(given, 'expiresAt'),
  })
}

export function progressIn(metadata: JsonObject): number | undefined {
  return numberIn(objectIn(metadata, PROGRESS), 'fraction')
}

const streamStates: readonly string[] = ['open', 'recorded', 'discarded']

export function streamIn(metadata: JsonObject | undefined): StreamState | undefined {
  const state = textIn(objectIn(metadata, STREAMS), 'state')
  return state !== undefined && streamStates.includes(state) ? (state as StreamState) : undefined
}

export function reminderChangeIn(metadata: JsonObject): ReminderChange | undefined {
  const change = objectIn(metadata, REMINDERS)
  if (change === undefined) return undefined
  const reminder = objectIn(change, 'reminder')
  if (textIn(change, 'event') === 'emitted' && reminder !== undefined) {
    return { event: 'emitted', reminder: readReminder(reminder) }
  }
  if (textIn(change, 'event') === 'deduped') return readDeduped(change, 'by', 'displaced')
  return textIn(change, 'event') === 'expired' ? readExpired(change) : undefined
}

export function readDeduped(from: JsonObject, by: string, displaced: string): ReminderChange {
  return {
    event: 'deduped',
    dedupeKey: textIn(from, 'dedupeKey') ?? '',
    by: textIn(from, by) ?? '',
    displaced: textsIn(from, displaced),
  }
}

export function readExpired(from: JsonObject): ReminderChange {
  const reasons = ['ttl', 'compaction', 'cleared', 'task_ended'] as const
  return {
    event: 'expired',
    reminderId: textIn(from, 'reminderId') ?? '',
    reason: wordIn(from, 'reason', reasons) ?? 'cleared',
  }
}

export function readReminder(given: JsonObject): PendingReminder {
  const preserve = memberOf(given, 'preserveOnCompact')
  return present<PendingReminder>({
    id: textIn(given, 'id') ?? '',
    body: textIn(given, 'body') ?? '',
    tags: textsIn(given, 'tags'),
    dedupeKey: textIn(given, 'dedupeKey'),
    ttlTurns: numberIn(given, 'ttlTurns'),
    preserveOnCompact: typeof preserve === 'boolean' ? preserve : undefined,
    propagate: wordIn(given, 'propagate', ['session', 'none', 'all']),
    roleHint: wordIn(given, 'roleHint', ['system', 'developer']),
    source: textIn(given, 'source'),
    firedAtTurn: numberIn(given, 'firedAtTurn'),
    mode: wordIn(given, 'mode', pauseModes),
    inheritedFrom: textIn(given, 'inheritedFrom'),
    metadata: objectIn(given, 'metadata'),
    acceptedAt: textIn(given, 'acceptedAt'),
  })
}
