/**
 * Adds the exact state to the core state: each extension has its data under its URI in the metadata
 * of tasks and status updates. The object is always complete and never removed, because clients
 * merge metadata and cannot see a removal.
 */

import { type Message, textOf } from '../../core/messages/message.ts'
import type { Decision } from '../../core/records.ts'
import type { Reminder } from '../../core/reminders/reminders.ts'
import type { Suspension } from '../../core/suspension.ts'
import type { ResumeAnswer, Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import { type JsonObject, withoutNulls } from '../../core/values/json.ts'
import { PROGRESS, REMINDERS, STREAMS, TASK_CONTROL, USAGE, USER_CONSENT } from './extensions.ts'
import type { ReminderChangeFacts, ReminderFacts } from './schemas/reminders.ts'
import type {
  PausingFacts,
  ResumeFacts,
  StoppedFacts,
  TaskControlFacts,
} from './schemas/task-control.ts'
import type {
  ConsentAsked,
  ConsentFacts,
  ProgressFacts,
  StreamFacts,
  UsageFacts,
} from './schemas/task-metadata.ts'
import type { ReminderChange, TaskEvent } from './streams/task-events.ts'

/** The metadata of a task. Undefined when there is none, which is the common case. */
export function taskMetadata(task: Task): JsonObject | undefined {
  const { metadata } = task
  // The most frequent case: the task was never stopped, asks nothing and reports no usage.
  const control = controlOf(task)
  const consent = consentOf(task)
  const usage = usageOf(task)
  if (control === undefined && consent === undefined && usage === undefined) return metadata
  return {
    ...metadata,
    ...(usage === undefined ? {} : under(USAGE, usage)),
    ...(control === undefined ? {} : underWithoutNulls(TASK_CONTROL, control)),
    ...(consent === undefined ? {} : under(USER_CONSENT, consent)),
  }
}

/** The metadata of an event: the data that it changes and, on status updates, the usage so far. */
export function eventMetadata(event: TaskEvent): JsonObject | undefined {
  const facts = changedFacts(event)
  const usage = event.kind === 'status' ? usageOf(event.task) : undefined
  return usage === undefined ? facts : { ...facts, ...under(USAGE, usage) }
}

function changedFacts(event: TaskEvent): JsonObject | undefined {
  if (event.kind === 'artifact') {
    const { stream } = event
    return stream && under(STREAMS, { state: stream } satisfies StreamFacts)
  }
  if (event.kind === 'reminder') return underWithoutNulls(REMINDERS, reminderChange(event.change))
  const { task, before, record } = event
  const { type } = record
  if (type === 'said' && record.progress !== undefined) {
    return under(PROGRESS, { fraction: record.progress } satisfies ProgressFacts)
  }
  const consent = consentOf(task)
  if (consent !== undefined) return under(USER_CONSENT, consent)
  if (before?.question?.consent !== undefined && task.question === undefined) {
    const decision = type === 'answered' ? record.decision : undefined
    return under(USER_CONSENT, consentAnswer(before, decision))
  }
  const stops = [task.suspension, task.pausing, before?.suspension, before?.pausing]
  if (stops.every((stop) => stop === undefined)) return undefined
  const control = controlOf(task)
  return control && underWithoutNulls(TASK_CONTROL, control)
}

/** The cast is safe: every member is JSON, but the type of an interface has no index signature. */
function under(uri: string, facts: object): JsonObject {
  return { [uri]: facts as JsonObject }
}

/** Null members are removed, because the official Java client throws on them. */
function underWithoutNulls(uri: string, facts: object): JsonObject {
  return { [uri]: withoutNulls(facts as JsonObject) }
}

/** The usage so far. Undefined if none was reported. */
function usageOf({ usage }: Task): UsageFacts | undefined {
  const { inputTokens, outputTokens, costUsd } = usage
  if (inputTokens === 0 && outputTokens === 0 && costUsd === 0) return undefined
  return { inputTokens, outputTokens, costUsd }
}

function consentAnswer(before: Task, decision: Decision | undefined): ConsentFacts {
  const consentId = before.question?.consent?.consentId ?? ''
  return { state: 'active', consentId, ...(decision === undefined ? {} : { decision }) }
}

function controlOf(task: Task): TaskControlFacts | undefined {
  const { suspension, pausing, epoch } = task
  if (suspension !== undefined) return stopped(task, suspension)
  if (pausing !== undefined) {
    const { handle, requestedAt, reason, mode } = pausing
    return present<PausingFacts>({
      state: 'active',
      pausing: true,
      handle,
      requestedAt: toIso(requestedAt),
      reason,
      mode,
    })
  }
  const last = task.resumes.at(-1)
  if (last !== undefined) return { state: 'active', ...resumeFacts(last) }
  return epoch === 0 ? undefined : { state: 'active' }
}

function stopped(task: Task, suspension: Suspension): StoppedFacts {
  const { handle, epoch, initiator, reason, summary, conditions, deadlineAt, mayStillAct } =
    suspension
  return present<StoppedFacts>({
    state: task.state as StoppedFacts['state'],
    handle,
    epoch,
    initiator,
    reason,
    summary,
    pausedAt: toIso(pausedAtOf(suspension)),
    deadlineAt: deadlineAt === undefined ? undefined : toIso(deadlineAt),
    conditions,
    mayStillAct,
  })
}

export function pausedAtOf({ pausedAt, requestedAt }: Suspension): number {
  return pausedAt ?? requestedAt
}

/** A wake in the shape of the RFC. */
export function resumeFacts(answer: ResumeAnswer): ResumeFacts {
  const { previousState, cause, hadResumeInput, continueTranscript, resumedAt } = answer
  return {
    previousState,
    cause,
    hadResumeInput,
    continueTranscript,
    resumedAt: toIso(resumedAt),
  }
}

function consentOf(task: Task): ConsentFacts | undefined {
  const { question, state } = task
  if (question?.consent === undefined || state !== 'user-consent-required') return undefined
  const { consentId, digest, operation, scope, expiresAt } = question.consent
  return present<ConsentAsked>({
    state,
    consentId,
    prompt: textOf(question.message),
    operation,
    digest,
    scope,
    expiresAt: expiresAt === undefined ? undefined : toIso(expiresAt),
  })
}

function reminderChange(change: ReminderChange): ReminderChangeFacts {
  if (change.event !== 'emitted') return { ...change }
  return { event: 'emitted', reminder: reminderFacts(change.reminder) }
}

/** A reminder as it is shown in streams and lists. */
export function reminderFacts(reminder: Reminder): ReminderFacts {
  return { ...reminder, acceptedAt: toIso(reminder.acceptedAt) }
}

/**
 * The status message of a stopped task: the reason and summary that the agent gave when it parked.
 * Clients show every status text as output of the agent, so reasons of other initiators are only in
 * the metadata.
 */
function pauseMessage(task: Task, suspension: Suspension): Message | undefined {
  const { initiator, reason, summary, handle } = suspension
  if (initiator !== 'agent') return undefined
  const texts = [reason, summary].filter((text) => text !== undefined && text !== '')
  if (texts.length === 0) return undefined
  return {
    messageId: `${handle}-status`,
    role: 'ROLE_AGENT',
    parts: texts.map((text) => ({ text: text ?? '' })),
    taskId: task.id,
    contextId: task.contextId,
    extensions: [TASK_CONTROL],
  }
}

export function statusMessage(task: Task): Message | undefined {
  return task.suspension === undefined ? task.statusMessage : pauseMessage(task, task.suspension)
}

/**
 * The message of a status update, taken from the record. A task that continues to work does not
 * repeat its message. A pause that is not committed yet has no message.
 */
export function eventMessage({
  task,
  record,
}: TaskEvent & { kind: 'status' }): Message | undefined {
  if (record.type === 'said') return record.message
  return task.state === 'working' ? undefined : statusMessage(task)
}

function present<T extends object>(
  facts: {
    readonly [K in keyof T]: T[K] | undefined
  },
): T {
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as T
}
