/**
 * The schema of each record type, for logs that were made elsewhere. Records that this engine has written are not checked again.
 * A record type, or a member of one, that has no schema does not compile.
 */

import { z } from 'zod'
import { EXPORT_FORMAT, type ExportHeader } from '../../core/receipts/task-export.ts'
import type { LogRecord, RecordBody, RecordType } from '../../core/records.ts'
import type { TurnOutcome } from '../../core/reminders/reminders.ts'
import { list } from './bounded.ts'
import { type FieldsOf, oneOf } from './exhaustive.ts'
import { json } from './json-input.ts'
import { id, jsonObject, text } from './primitives.ts'
import {
  actor,
  artifact,
  at,
  childResult,
  count,
  decisionContent,
  deferred,
  dueAt,
  endedChild,
  failure,
  key,
  links,
  message,
  publicKeys,
  question,
  receipt,
  reminder,
  run,
  seen,
  span,
  suspension,
  taskName,
  transcript,
  usage,
  wakeEvent,
  yes,
} from './record-values.ts'
import { decision, expiryReason, pauseMode, resumeCause } from './unions.ts'

type Body<T extends RecordType> = Extract<RecordBody, { readonly type: T }>
type Fields<T extends RecordType> = FieldsOf<Omit<Body<T>, 'type'>>

const MANY = 100_000
const ids = list(text.min(1).max(1_024), MANY)
const messages = list(message, MANY)
const reminders = list(reminder, MANY)
const idempotencyKey = text.optional()
const outcome = oneOf<TurnOutcome>({ completed: true, skipped: true, failed: true })
const attemptOutcome = oneOf<Body<'attempt'>['outcome']>({ interrupted: true, failed: true })
/** Of every record of an operation. */
const operation = { key, inserted: yes.optional() }

const fields: { readonly [T in RecordType]: Fields<T> } = {
  submitted: {
    taskId: taskName,
    tenant: id.refine((tenant) => tenant !== '*', 'must be one tenant'),
    principal: id,
    agent: id,
    contextId: id,
    message,
    parentId: taskName.optional(),
    depth: count.optional(),
    origin: text.max(256).optional(),
    metadata: jsonObject.optional(),
    input: json.optional(),
    eventsAfter: count,
    reminders: reminders.optional(),
    seen: seen.optional(),
    trace: span.optional(),
  },
  started: { run, deaths: count },
  released: { reason: text, inFlight: yes.optional() },
  message: { message, idempotencyKey },
  completed: { message: message.optional() },
  failed: { message, failure },
  rejected: { message },
  canceled: { actor, reason: text.optional() },

  step: {
    ...operation,
    name: text,
    attempt: count,
    result: json.optional(),
    failure: failure.optional(),
    topLevel: yes.optional(),
    inputDigest: text.optional(),
  },
  attempt: { ...operation, attempt: count, outcome: attemptOutcome, failure: failure.optional() },
  abandoned: { ...operation, name: text, attempt: count, settled: yes.optional() },
  'not-awaited': { ...operation, operations: list(key, MANY), count },
  skipped: { ...operation, name: text },
  said: {
    ...operation,
    message: message.optional(),
    progress: z.number().min(-1e9).max(1e9).optional(),
  },
  artifact: {
    ...operation,
    artifact,
    append: z.boolean(),
    last: z.boolean(),
    attempt: text.optional(),
  },
  usage: { ...operation, usage },
  value: { ...operation, value: json },
  compacted: { ...operation, transcript },
  'turn-started': {
    key,
    turn: count,
    messages,
    reminders,
    emitted: ids,
    digest: text.optional(),
  },
  'turn-ended': { ...operation, turn: count, outcome: outcome.optional(), transcript },
  continued: { key, state: json, transcript },
  voided: { key, unclaimed: key.optional() },

  delegated: { ...operation, childId: taskName, agent: id, message, input: json.optional() },
  'child-ended': { ...operation, result: childResult },
  'child-called': { ...operation, call: text, result: json, failure: failure.optional() },

  asked: { key, fingerprint: text, question },
  'asked-again': { answer: message, actor: actor.optional(), idempotencyKey },
  answered: {
    message,
    actor: actor.optional(),
    decision: decision.optional(),
    content: decisionContent.optional(),
    run: run.optional(),
    idempotencyKey,
    trace: span.optional(),
  },

  'pause-requested': { suspension, quiesces: yes.optional() },
  'pause-upgraded': { mode: pauseMode },
  'pause-kept': { actor, reason: text.optional(), origin: text.max(256).optional() },
  'pause-withdrawn': {
    handle: id,
    actor,
    cause: resumeCause,
    input: json.optional(),
    idempotencyKey,
  },
  paused: {
    handle: id,
    deadlineAt: dueAt.optional(),
    fireAt: dueAt.optional(),
    inFlight: yes.optional(),
    links: links.optional(),
  },
  parked: { fingerprint: text, suspension },
  resumed: {
    handle: id,
    cause: resumeCause,
    actor: actor.optional(),
    input: json,
    event: wakeEvent.optional(),
    child: endedChild.optional(),
    eventPos: count.optional(),
    eventsRemovedUpTo: count.optional(),
    continueTranscript: z.boolean(),
    run: run.optional(),
    idempotencyKey,
    trace: span.optional(),
  },
  deferred: { deferred, idempotencyKey },
  held: { holdId: id, reason: text, actor },
  lifted: { holdId: id, actor },

  'reminders-shown': {
    key,
    turn: count,
    reminders,
    emitted: ids,
    toldWake: id.optional(),
  },
  'reminder-injected': { reminder, dedupedCount: count.optional(), provider: text.optional() },
  'reminder-deduped': { ids, by: text, dedupeKey: text },
  'reminder-expired': { ids, reason: expiryReason },

  receipt: { receipt, hash: text.max(256) },
  imported: {
    actor,
    exportedAt: at,
    lull: text.max(256),
    digest: text.max(256),
    keys: publicKeys,
    eventsAfter: count,
    holdId: id.optional(),
  },
  forked: { taskId: taskName, contextId: id, from: taskName, step: text },
}

const types = Object.keys(fields) as RecordType[]

const schemas = new Map<unknown, z.ZodType<LogRecord>>(
  types.map((type) => [
    type,
    z.strictObject({
      type: z.literal(type),
      seq: count,
      at,
      ...fields[type],
    }) as z.ZodType<unknown> as z.ZodType<LogRecord>,
  ]),
)

const anyType = z.looseObject({ type: z.enum(types) })

/** The schema for a record that says it is of this type. For an unknown type, one that refuses it. */
export function recordSchema(type: unknown): z.ZodType {
  return schemas.get(type) ?? anyType
}

/** The header of an exported task. Its signature covers every member, also those of newer versions. */
export const exportHeader: z.ZodType<ExportHeader> = z.looseObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(1),
  lull: text.max(256),
  taskId: taskName,
  exportedAt: at,
  records: count.min(1),
  digest: text.max(256),
  redacted: z.literal(true).optional(),
  keys: publicKeys,
  keyId: id,
  signature: text.max(256),
  ed25519: text.max(256),
}) as z.ZodType<unknown> as z.ZodType<ExportHeader>
