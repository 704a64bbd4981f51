/**
 * The updates that a record of the log leads to. Pure, and the same for live updates and for the replay by `session/load`.
 * In the shapes of ACP v1; `v2/` converts them.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Message } from '../../../core/message.ts'
import type { LogRecord, RecordType } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { announcedIn } from '../../../core/tool-calls.ts'
import { type RfcUpdate, rfcUpdate } from '../suspend/lifecycle.ts'
import { artifactUpdates } from './artifact-updates.ts'
import { blockOf } from './content.ts'
import type { Facts } from './facts.ts'
import { announcedUpdates, childUpdates, stepUpdates } from './tool-updates.ts'

export type Shown =
  | {
      readonly update: SessionUpdate
      /** The id of the message that the update repeats. The sender of the message does not get it. */
      readonly echoes?: string
    }
  /** Only clients that declare the RFC get this update. */
  | { readonly rfcUpdate: RfcUpdate }

type Updates = readonly Shown[]
const none: Updates = []

/** Records after which the client is told the state of the task. */
const telling: ReadonlySet<RecordType> = new Set<RecordType>([
  'pause-requested',
  'pause-upgraded',
  'pause-withdrawn',
  'paused',
  'parked',
  'resumed',
  'held',
  'lifted',
])

/** The records of a child that are shown: its questions. */
const asking: ReadonlySet<RecordType> = new Set<RecordType>(['asked', 'asked-again', 'answered'])

export function updatesOf(
  before: Task | undefined,
  record: LogRecord,
  task: Task,
  facts: Facts,
): Updates {
  if (task.parentId !== undefined && !asking.has(record.type)) return none
  const shown = shownOf(before, record, task)
  if (!telling.has(record.type)) return shown
  const rfc = rfcUpdate(record, task)
  return [
    ...shown,
    show({ sessionUpdate: 'session_info_update', _meta: facts.ofTask(task) }),
    ...(rfc === undefined ? none : [{ rfcUpdate: rfc }]),
  ]
}

function shownOf(before: Task | undefined, record: LogRecord, task: Task): Updates {
  switch (record.type) {
    case 'submitted':
    case 'message':
      return heard(record.message)
    case 'asked-again':
      return [...heard(record.answer), ...said(task.question?.message)]
    case 'answered':
      return answered(before, record)
    case 'said':
      return [...announcedOrSaid(task, record.message), ...progress(record.progress)]
    case 'artifact':
      return artifactUpdates(task, record).map(show)
    case 'usage':
      return usage(task, record)
    case 'step':
    case 'attempt':
    case 'skipped':
      return stepUpdates(task, record).map(show)
    case 'delegated':
    case 'child-ended':
      return childUpdates(record).map(show)
    case 'asked':
      return asked(record)
    case 'paused':
    case 'parked':
      return stopped(task)
    case 'resumed':
      return [
        show({
          sessionUpdate: 'tool_call_update',
          toolCallId: record.handle,
          status: 'completed',
          content: [text(`Resumed: ${record.cause}`)],
        }),
      ]
    case 'completed':
    case 'failed':
    case 'rejected':
    case 'canceled':
      return [
        ...abandoned(before),
        ...('message' in record && record.message !== undefined ? said(record.message) : none),
      ]
    default:
      return none
  }
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

/** A message of the user. */
export function heard(message: Message): Updates {
  return chunks(message, 'user_message_chunk').map((update) => ({
    update,
    echoes: message.messageId,
  }))
}

function announcedOrSaid(task: Task, message: Message | undefined): Updates {
  const calls = message === undefined ? undefined : announcedIn(message)
  return calls === undefined ? said(message) : announcedUpdates(task, calls).map(show)
}

export function said(message: Message | undefined): Updates {
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

/** `used` is the size of the last model call. `size` is 0, because agents do not report the size of their context. */
function usage(task: Task, { usage: last }: LogRecord & { readonly type: 'usage' }): Updates {
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

function asked({ question }: LogRecord & { readonly type: 'asked' }): Updates {
  const { consent, message } = question
  if (consent === undefined) return said(message)
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
  before: Task | undefined,
  { message, decision }: LogRecord & { readonly type: 'answered' },
): Updates {
  const consent = before?.question?.consent
  if (consent === undefined || decision === undefined) return heard(message)
  const decided: SessionUpdate = {
    sessionUpdate: 'tool_call_update',
    toolCallId: consent.consentId,
    status: decision === 'granted' ? 'completed' : 'failed',
    content: [text(decision === 'granted' ? 'Granted' : 'Denied')],
  }
  const words = message.parts.filter((part) => !('data' in part))
  return [...heard({ ...message, parts: words }), show(decided)]
}

/** A stop is shown as a tool call that lasts as long as the stop. */
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

/** The tool call of a stop or a consent that was open when the task ended. */
function abandoned(before: Task | undefined): Updates {
  const open = before?.suspension?.handle ?? before?.question?.consent?.consentId
  if (open === undefined) return none
  return [show({ sessionUpdate: 'tool_call_update', toolCallId: open, status: 'failed' })]
}

export function titleOf({ parts }: Message): string {
  const words = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join(' ')
  return words === '' ? 'Your consent is needed' : words
}

/** The task has ended, is stopped, asks its user, or is held before its first run. */
export function isIdle({ state, holds }: Task): boolean {
  return state === 'submitted' ? holds.length > 0 : state !== 'working'
}
