/** The message that answers what a task asks: content for a question, a decision for a consent. */
import type { Message } from '../core/message.ts'
import { isInterrupted } from '../core/states.ts'
import type { ConsentAnswer } from './client.ts'
import { ClientError, unsupported } from './client-error.ts'
import { USER_CONSENT } from './extensions.ts'
import { type Content, messageOf } from './tasks/message-content.ts'
import type { Task } from './tasks/task-types.ts'
import { isObject } from './wire/json-members.ts'

/** @throws ClientError `NOT_WAITING` when the task asks nothing */
export function answerMessage(task: Task, answer: Content | ConsentAnswer): Message {
  const { id: taskId, contextId, state } = task
  if (state === 'unknown' || !isInterrupted(state)) throw notWaiting(task)
  const content = isConsent(answer) ? consentMessage(task, answer) : answer
  return messageOf(content, { taskId, contextId })
}

function isConsent(answer: Content | ConsentAnswer): answer is ConsentAnswer {
  return isObject(answer) && 'consent' in answer
}

/** In a data part and in the metadata of the extension, because agents read one or the other. */
function consentMessage(task: Task, { consent, consentId }: ConsentAnswer): Message {
  const id = consentId ?? task.consent?.consentId
  if (id === undefined) throw unsupported('consent by id: the task shows none')
  const decision = { consentId: id, decision: consent }
  return {
    ...messageOf([{ data: decision }], {}),
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
