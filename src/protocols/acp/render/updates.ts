/**
 * Renders the updates for a record of the log. It is pure, and the same for live updates and for
 * the replay by `session/load`. The shapes are those of ACP v1; `v2/` converts them.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Message } from '../../../core/messages/message.ts'
import { announcedIn } from '../../../core/messages/tool-calls.ts'
import type { LogRecord, RecordType } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { type RfcUpdate, rfcUpdate } from '../suspend/stop-notices.ts'
import { artifactUpdates } from './artifact-updates.ts'
import { blockOf } from './content.ts'
import type { Facts } from './facts.ts'
import { announcedUpdates, childUpdates, stepUpdates } from './tool-updates.ts'

export type Shown =
  | {
      readonly update: SessionUpdate
      /**
       * The id of the user message that the update contains. The sender of the message does not get
       * the update.
       */
      readonly echoes?: string
    }
  /** An update that only clients that declare the RFC get. */
  | { readonly rfcUpdate: RfcUpdate }

type Updates = readonly Shown[]
const none: Updates = []

type Of<T extends RecordType> = LogRecord & { readonly type: T }

/** How records of one type are rendered. */
interface Reading<T extends RecordType> {
  readonly show?: (record: Of<T>, task: Task, before: Task | undefined) => Updates
  /** Whether the client is sent the state of the task after such a record. */
  readonly tellsState?: true
  /** Whether such a record is also shown for a sub-task. */
  readonly ofChild?: true
  /** What the record changes about reminders. */
  readonly reminders?: (record: Of<T>) => readonly JsonObject[]
}

export function updatesOf(
  before: Task | undefined,
  record: LogRecord,
  task: Task,
  facts: Facts,
): Updates {
  const reading = readings[record.type] as Reading<RecordType>
  if (task.parentId !== undefined && !reading.ofChild) return none
  const shown = reading.show?.(record, task, before) ?? none
  if (!reading.tellsState) return shown
  const rfc = rfcUpdate(record, task)
  return [
    ...shown,
    show({ sessionUpdate: 'session_info_update', _meta: facts.ofTask(task) }),
    ...(rfc === undefined ? none : [{ rfcUpdate: rfc }]),
  ]
}

/** The parameters of `_session/reminder` for each change of a reminder, without `sessionId`. */
export function reminderChanges(record: LogRecord): readonly JsonObject[] {
  const reading = readings[record.type] as Reading<RecordType>
  return reading.reminders?.(record) ?? []
}

const unseen = {}

const emitted: Reading<'turn-started' | 'reminders-shown'> = {
  reminders: (record) =>
    record.reminders
      .filter(({ id }) => record.emitted.includes(id))
      .map(({ acceptedAt, ...reminder }) => ({
        event: 'emitted',
        reminder: { ...reminder, tags: [...reminder.tags], acceptedAt: toIso(acceptedAt) },
      })) as readonly JsonObject[],
}

const step: Reading<'step' | 'attempt' | 'skipped'> = {
  show: (record, task) => stepUpdates(task, record).map(show),
}

const child: Reading<'delegated' | 'child-ended'> = {
  show: (record) => childUpdates(record).map(show),
}

const stop: Reading<'paused' | 'parked'> = {
  show: (_record, task) => stopped(task),
  tellsState: true,
}

const end: Reading<'completed' | 'failed' | 'rejected' | 'canceled'> = {
  show: (record, _task, before) => [
    ...abandoned(before),
    ...('message' in record && record.message !== undefined ? agentUpdates(record.message) : none),
  ],
}

const readings: { readonly [T in RecordType]: Reading<T> } = {
  submitted: { show: ({ message }) => userUpdates(message) },
  message: { show: ({ message }) => userUpdates(message) },
  started: unseen,
  released: unseen,

  asked: { show: asked, ofChild: true },
  'asked-again': {
    show: ({ answer }, task) => [...userUpdates(answer), ...agentUpdates(task.question?.message)],
    ofChild: true,
  },
  answered: { show: answered, ofChild: true },
  said: {
    show: ({ message, progress: fraction }, task) => [
      ...announcedOrSaid(task, message),
      ...progress(fraction),
    ],
  },
  artifact: { show: (record, task) => artifactUpdates(task, record).map(show) },
  usage: { show: usage },
  step,
  attempt: step,
  skipped: step,
  delegated: child,
  'child-ended': child,
  'child-called': unseen,
  abandoned: unseen,
  'not-awaited': unseen,

  'pause-requested': { tellsState: true },
  'pause-upgraded': { tellsState: true },
  'pause-kept': unseen,
  'pause-withdrawn': { tellsState: true },
  paused: stop,
  parked: stop,
  resumed: {
    show: ({ handle, cause }) => [
      show({
        sessionUpdate: 'tool_call_update',
        toolCallId: handle,
        status: 'completed',
        content: [text(`Resumed: ${cause}`)],
      }),
    ],
    tellsState: true,
  },
  held: { tellsState: true },
  lifted: { tellsState: true },
  deferred: unseen,

  completed: end,
  failed: end,
  rejected: end,
  canceled: end,

  value: unseen,
  'turn-started': emitted,
  'turn-ended': unseen,
  compacted: unseen,
  continued: unseen,
  voided: unseen,
  'reminders-shown': emitted,
  'reminder-injected': unseen,
  'reminder-deduped': {
    reminders: ({ dedupeKey, by, ids }) => [
      { event: 'deduped', dedupeKey, by, displaced: [...ids] },
    ],
  },
  'reminder-expired': {
    reminders: ({ ids, reason }) =>
      ids.map((reminderId) => ({ event: 'expired', reminderId, reason })),
  },
  receipt: unseen,
  imported: unseen,
  forked: unseen,
}

function show(update: SessionUpdate): Shown {
  return { update }
}

export function text(words: string): {
  readonly type: 'content'
  readonly content: { readonly type: 'text'; readonly text: string }
} {
  return { type: 'content', content: { type: 'text', text: words } }
}

/** Renders a message of the user. */
export function userUpdates(message: Message): Updates {
  return chunks(message, 'user_message_chunk').map((update) => ({
    update,
    echoes: message.messageId,
  }))
}

function announcedOrSaid(task: Task, message: Message | undefined): Updates {
  const calls = message === undefined ? undefined : announcedIn(message)
  return calls === undefined ? agentUpdates(message) : announcedUpdates(task, calls).map(show)
}

export function agentUpdates(message: Message | undefined): Updates {
  return message === undefined ? none : agentChunks(message).map(show)
}

export function agentChunks(message: Message): readonly SessionUpdate[] {
  return chunks(message, 'agent_message_chunk')
}

function chunks(
  { parts, messageId, taskId = '' }: Message,
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk',
): readonly SessionUpdate[] {
  return parts.map((part, index) => {
    const content = blockOf(part, `lull:/tasks/${taskId}/messages/${messageId}/${index}`)
    return { sessionUpdate, content, messageId }
  })
}

function progress(fraction: number | undefined): Updates {
  if (fraction === undefined) return none
  const _meta = { lull: { progress: fraction } }
  return [show({ sessionUpdate: 'session_info_update', _meta })]
}

/**
 * Renders usage. `used` is the size of the last model call. `size` is 0, because agents do not
 * report the size of their context.
 */
function usage({ usage: last }: Of<'usage'>, task: Task): Updates {
  const used = Math.round((last.inputTokens ?? 0) + (last.outputTokens ?? 0))
  const { inputTokens, outputTokens, costUsd } = task.usage
  return [
    show({
      sessionUpdate: 'usage_update',
      used,
      size: 0,
      ...(costUsd === 0 ? {} : { cost: { amount: costUsd, currency: 'USD' } }),
      _meta: { lull: { usage: { inputTokens, outputTokens, costUsd } } },
    }),
  ]
}

function asked({ question }: Of<'asked'>): Updates {
  const { consent, message } = question
  if (consent === undefined) return agentUpdates(message)
  return [
    show({
      sessionUpdate: 'tool_call',
      toolCallId: consent.consentId,
      title: titleOf(message),
      kind: 'other',
      status: 'pending',
      rawInput: consent.operation,
    }),
  ]
}

function answered(
  { message, decision }: Of<'answered'>,
  _task: Task,
  before: Task | undefined,
): Updates {
  const consent = before?.question?.consent
  if (consent === undefined || decision === undefined) return userUpdates(message)
  const decided: SessionUpdate = {
    sessionUpdate: 'tool_call_update',
    toolCallId: consent.consentId,
    status: decision === 'granted' ? 'completed' : 'failed',
    content: [text(decision === 'granted' ? 'Granted' : 'Denied')],
  }
  const words = message.parts.filter((part) => !('data' in part))
  return [...userUpdates({ ...message, parts: words }), show(decided)]
}

/** Renders a stop as a tool call that lasts as long as the stop. */
function stopped({ suspension }: Task): Updates {
  if (suspension === undefined) return none
  const { handle, initiator, reason, summary, conditions } = suspension
  const verb = initiator === 'agent' ? 'Parked' : 'Suspended'
  const rawInput = { reason, resumeWhen: conditions }
  return [
    show({
      sessionUpdate: 'tool_call',
      toolCallId: handle,
      title: reason === undefined || reason === '' ? verb : `${verb}: ${reason}`,
      kind: 'other',
      status: 'in_progress',
      rawInput,
      ...(summary === undefined ? {} : { content: [text(summary)] }),
    }),
  ]
}

/** Ends the tool call of a stop or a consent that was open when the task ended. */
function abandoned(before: Task | undefined): Updates {
  const open = before?.suspension?.handle ?? before?.question?.consent?.consentId
  if (open === undefined) return none
  return [show({ sessionUpdate: 'tool_call_update', toolCallId: open, status: 'failed' })]
}

export function titleOf({ parts }: Message): string {
  const words = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join(' ')
  return words === '' ? 'Your consent is needed' : words
}

/**
 * Whether the task has ended, is stopped, asks its user a question, or is held before its first
 * run.
 */
export function isIdle({ state, holds }: Task): boolean {
  return state === 'submitted' ? holds.length > 0 : state !== 'working'
}
