/** The content of messages and answers as callers give it, and the messages made of it. */

import type { Message, Part } from '../../core/messages/message.ts'
import { isInterrupted } from '../../core/states.ts'
import type { Json } from '../../core/values/json.ts'
import { ClientError, unsupported } from '../client-error.ts'
import { USER_CONSENT } from '../wire/a2a-names.ts'
import { isObject, omitUndefined } from '../wire/json-members.ts'
import type { Task } from './task-types.ts'

/** A text, the parts of a message, or a whole message. Sending a message with the same id again is idempotent. */
export type Content = string | readonly Part[] | Message

/** The decision about a consent. `consentId` defaults to the id on the task. */
export interface ConsentAnswer {
  readonly consent: 'granted' | 'denied'
  readonly consentId?: string
  /** Reaches the agent with the decision. */
  readonly comment?: string | undefined
  /** Granted in place of the one that was asked for, where the consent is editable. */
  readonly operation?: Json | undefined
}

/** The conversation and the tasks of a message. */
export interface MessageTarget {
  /** The conversation of the message. */
  readonly contextId?: string | undefined
  /** The task that the message continues or answers. */
  readonly taskId?: string | undefined
  /** Further tasks that the message refers to. */
  readonly referenceTaskIds?: readonly string[] | undefined
}

export function buildMessage(content: Content, options: MessageTarget): Message {
  const { contextId, taskId, referenceTaskIds } = options
  return omitUndefined<Message>({
    ...(isMessage(content) ? content : newMessage(content)),
    ...omitUndefined<Partial<Message>>({ contextId, taskId, referenceTaskIds }),
  })
}

function newMessage(content: string | readonly Part[]): Message {
  const parts = typeof content === 'string' ? [{ text: content }] : content
  return { messageId: uuid(), role: 'ROLE_USER', parts }
}

function isMessage(content: Content): content is Message {
  return typeof content === 'object' && !Array.isArray(content)
}

/** @throws ClientError `NOT_WAITING` when the task asks for nothing */
export function buildAnswer(task: Task, answer: Content | ConsentAnswer): Message {
  const { id: taskId, contextId, state } = task
  if (state === 'unknown' || !isInterrupted(state)) throw notWaiting(task)
  const content = isConsent(answer) ? buildConsent(task, answer) : answer
  return buildMessage(content, { taskId, contextId })
}

function isConsent(answer: Content | ConsentAnswer): answer is ConsentAnswer {
  return isObject(answer) && 'consent' in answer
}

/** The decision is in a data part and in the metadata of the extension, because agents read one or the other. */
function buildConsent(
  task: Task,
  { consent, consentId, comment, operation }: ConsentAnswer,
): Message {
  const id = consentId ?? task.consent?.consentId
  if (id === undefined) throw unsupported('consent by id: the task shows none')
  const decision = {
    ...{ consentId: id, decision: consent },
    ...(comment === undefined ? {} : { comment }),
    ...(operation === undefined ? {} : { operation }),
  }
  return {
    ...buildMessage([{ data: decision }], {}),
    extensions: [USER_CONSENT],
    metadata: { [USER_CONSENT]: decision },
  }
}

function notWaiting({ id, state }: Task): ClientError {
  return new ClientError('refused', `Task ${id} is ${state} and waits for no answer`, {
    reason: 'NOT_WAITING',
    details: { taskId: id, state },
  })
}

/** A random UUID. Unlike `crypto.randomUUID` it works on pages that were loaded without TLS. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte
    return marked.toString(16).padStart(2, '0')
  }).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
