/** A log for each record type that ends with a record of that type, with every member that it can have. For tests only. */
import type { RecordBody, RecordType } from '../../core/records.ts'
import type { Reminder } from '../../core/reminders/reminders.ts'
import type { Suspension } from '../../core/suspension.ts'
import { forger } from './forged-export.ts'

type Body<T extends RecordType> = Extract<RecordBody, { readonly type: T }>

/** The records after `submitted` and `started`. */
type Example<T extends RecordType> = readonly [...before: RecordBody[], body: Body<T>]

const message = {
  messageId: 'm-9',
  role: 'ROLE_AGENT',
  parts: [{ text: 'words' }, { data: { a: [1] } }, { raw: 'aGk=' }, { url: 'https://a.example' }],
  metadata: { from: 'a test' },
} as const
const actor = { kind: 'client', id: 'alice' } as const
const run = { token: 'run-2', worker: 'elsewhere' }
const failure = { name: 'Error', message: 'no', stack: 'at a', code: 'NO', details: { a: 1 } }
const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: false } as const
const artifact = { artifactId: 'a-1', name: 'report', description: 'x', parts: message.parts }
const transcript = [{ turn: 1, role: 'agent', content: { text: 'hi' } }] as const
const key = 'step:a#1'
const reminder: Reminder = {
  id: 'r-1',
  body: 'be brief',
  tags: ['style'],
  dedupeKey: 'd',
  ttlTurns: 2,
  preserveOnCompact: true,
  propagate: 'session',
  roleHint: 'system',
  source: 'test',
  firedAtTurn: 0,
  mode: 'finish_step',
  metadata: { a: 1 },
  inheritedFrom: 'task-0',
  acceptedAt: 1_000,
}
const suspension: Suspension = {
  handle: 'suspend-1',
  epoch: 1,
  initiator: 'agent',
  actor: { kind: 'agent', id: 'parent' },
  origin: 'acp',
  mode: 'finish_step',
  reason: 'waits',
  summary: 'for a build',
  conditions: {
    onEvent: 'ci.done:1',
    trigger: { filter: { exact: { type: 'ci.done' } } },
    timeout: { durationMinutes: 0.001, onTimeout: 'resume_with_input', input: { a: 1 } },
    since: 'task',
  },
  children: ['child-1'],
  inputSchema: { type: 'string' },
  requestedAt: 1_000,
  pausedAt: 1_000,
  deadlineAt: 1_060.5,
  fireAt: 2_000,
  mayStillAct: ['a'],
  pausedFrom: 'working',
  eventsAfter: 0,
  links: { span: trace, pipelineSpan: trace, parentTaskId: 'task-0' },
  key: 'park:#1',
}
const parked: Body<'parked'> = { type: 'parked', fingerprint: 'f', suspension }
const requested: Body<'pause-requested'> = {
  type: 'pause-requested',
  quiesces: true,
  suspension: { ...suspension, initiator: 'client' },
}
const asked: Body<'asked'> = {
  type: 'asked',
  key: 'ask:#1',
  fingerprint: 'f',
  question: {
    state: 'user-consent-required',
    message,
    expiresAt: 9_000,
    choices: [{ value: 'a', label: 'A' }],
    schema: { type: 'string' },
    consent: { consentId: 'c', digest: 'd', operation: { a: 1 }, scope: ['x'], expiresAt: 9_000 },
  },
}
const injected: Body<'reminder-injected'> = {
  type: 'reminder-injected',
  reminder,
  dedupedCount: 1,
  provider: 'clock',
}
const event = { id: 'e', source: 's', type: 'ci.done', subject: '1', data: { a: 1 } }
const delegated: Body<'delegated'> = {
  type: 'delegated',
  key: 'delegate:child#1',
  childId: 'child-1',
  agent: 'child',
  message,
  input: { a: 1 },
}
const turnStarted: Body<'turn-started'> = {
  type: 'turn-started',
  key: 'turn:#1',
  turn: 1,
  messages: [message],
  reminders: [reminder],
  emitted: ['r-1'],
  digest: 'so far',
}

export const examples: { readonly [T in RecordType]: Example<T> } = {
  submitted: [
    {
      type: 'submitted',
      taskId: 'forged',
      tenant: 'acme',
      principal: 'alice',
      agent: 'parent',
      contextId: 'context',
      message: { ...message, role: 'ROLE_USER' },
      parentId: 'task-0',
      origin: 'acp',
      metadata: { a: 1 },
      input: { a: 1 },
      eventsAfter: 0,
      reminders: [reminder],
      seen: { tasks: [['task-0', 1]], messagesUpTo: 1, messagesFrom: 1 },
      trace,
    },
  ],
  started: [{ type: 'started', run, deaths: 1 }],
  released: [{ type: 'released', reason: 'drain', inFlight: true }],
  message: [{ type: 'message', message, idempotencyKey: 'k' }],
  completed: [{ type: 'completed', message }],
  failed: [{ type: 'failed', message, failure }],
  rejected: [{ type: 'rejected', message }],
  canceled: [{ type: 'canceled', actor, reason: 'enough' }],
  step: [
    {
      type: 'step',
      key,
      name: 'a',
      attempt: 1,
      result: { a: 1 },
      failure,
      topLevel: true,
      inserted: true,
    },
  ],
  attempt: [{ type: 'attempt', key, attempt: 1, outcome: 'failed', failure }],
  abandoned: [{ type: 'abandoned', key, name: 'a', attempt: 1, settled: true }],
  'not-awaited': [{ type: 'not-awaited', key: 'not-awaited:#1', operations: [key], count: 1 }],
  skipped: [{ type: 'skipped', key, name: 'a' }],
  said: [{ type: 'said', key: 'say:#1', message, progress: 0.5 }],
  artifact: [
    { type: 'artifact', key: 'artifact:#1', artifact, append: false, last: true, attempt: '1' },
  ],
  usage: [
    {
      type: 'usage',
      key: 'usage:#1',
      usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5, contextWindow: 9 },
    },
  ],
  value: [{ type: 'value', key: 'now:#1', value: 1_000 }],
  'turn-started': [turnStarted],
  'turn-ended': [
    turnStarted,
    { type: 'turn-ended', key: 'turn:#1/end', turn: 1, outcome: 'completed', transcript },
  ],
  compacted: [{ type: 'compacted', key: 'compact:#1', transcript }],
  delegated: [delegated],
  'child-ended': [
    delegated,
    {
      type: 'child-ended',
      key: 'child-result:child-1#1',
      result: { taskId: 'child-1', state: 'completed', message, artifacts: [artifact] },
    },
  ],
  'child-called': [
    delegated,
    { type: 'child-called', key: 'child-pause:child-1#1', call: 'pause', result: null, failure },
  ],
  'reminders-shown': [
    injected,
    {
      type: 'reminders-shown',
      key: 'shown:#1',
      turn: 1,
      reminders: [reminder],
      emitted: ['r-1'],
      toldWake: 'suspend-1',
    },
  ],
  asked: [asked],
  'asked-again': [asked, { type: 'asked-again', answer: message, idempotencyKey: 'k' }],
  answered: [
    asked,
    { type: 'answered', message, decision: 'granted', run, idempotencyKey: 'k', trace },
  ],
  'pause-requested': [requested],
  'pause-upgraded': [requested, { type: 'pause-upgraded', mode: 'interrupt_immediate' }],
  'pause-kept': [requested, { type: 'pause-kept', actor, reason: 'mine', origin: 'acp' }],
  'pause-withdrawn': [
    requested,
    {
      type: 'pause-withdrawn',
      handle: 'suspend-1',
      actor,
      cause: 'explicit_resume',
      input: { a: 1 },
      idempotencyKey: 'k',
    },
  ],
  paused: [
    requested,
    {
      type: 'paused',
      handle: 'suspend-1',
      deadlineAt: 9_000,
      fireAt: 9_000,
      inFlight: true,
      links: { span: trace },
    },
  ],
  parked: [parked],
  resumed: [
    parked,
    {
      type: 'resumed',
      handle: 'suspend-1',
      cause: 'condition_fired',
      actor,
      input: { a: 1 },
      event,
      child: { taskId: 'child-1', state: 'completed', message },
      eventPos: 1,
      eventsRemovedUpTo: 0,
      continueTranscript: true,
      run,
      idempotencyKey: 'k',
      trace,
    },
  ],
  deferred: [
    parked,
    {
      type: 'deferred',
      deferred: {
        kind: 'wake',
        cause: 'timeout',
        input: null,
        event: {
          type: 'lull.timeout',
          handle: 'suspend-1',
          deadlineAt: '2026-01-01T00:00:00.000Z',
        },
        child: { taskId: 'child-1', state: 'failed', message },
        eventPos: 1,
        eventsRemovedUpTo: 0,
        continueTranscript: false,
      },
      idempotencyKey: 'k',
    },
  ],
  held: [{ type: 'held', holdId: 'hold-1', reason: 'panic', actor }],
  lifted: [
    { type: 'held', holdId: 'hold-1', reason: 'panic', actor },
    { type: 'lifted', holdId: 'hold-1', actor },
  ],
  continued: [{ type: 'continued', key: 'continue:#1', state: { a: 1 }, transcript }],
  voided: [{ type: 'voided', key, unclaimed: 'step:b#1' }],
  'reminder-injected': [injected],
  'reminder-deduped': [
    injected,
    { type: 'reminder-deduped', ids: ['r-1'], by: 'r-2', dedupeKey: 'd' },
  ],
  'reminder-expired': [injected, { type: 'reminder-expired', ids: ['r-1'], reason: 'ttl' }],
  // A receipt follows the stop by itself. This one has nothing that it could be the receipt of.
  receipt: [
    parked,
    {
      type: 'receipt',
      hash: 'aa',
      receipt: {
        version: 2,
        kind: 'SuspensionReceipt',
        taskId: 'forged',
        number: 2,
        previous: 'aa',
        seq: 5,
        at: 1_000,
        facts: { handle: 'suspend-1' },
        content: 'aa',
        keyId: forger.keyId,
        signature: 'aa',
        ed25519: 'aa',
      },
    },
  ],
  imported: [
    {
      type: 'imported',
      actor: { kind: 'operator', id: 'olga' },
      exportedAt: 1_000,
      lull: '1.0.0',
      digest: 'aa',
      keys: forger.publicKeys,
      eventsAfter: 0,
      holdId: 'hold-1',
    },
  ],
  forked: [
    requested,
    { type: 'paused', handle: 'suspend-1' },
    { type: 'forked', taskId: 'forged', contextId: 'other', from: 'task-0', step: key },
  ],
}
