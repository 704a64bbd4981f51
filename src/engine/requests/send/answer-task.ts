/** Answers the open question of a task for a caller. A message that is an answer does the same (`continue-task.ts`). */
import { z } from 'zod'
import type { MessageInput, PartInput } from '../../../core/messages/message.ts'
import type { Decision } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Json, JsonInput } from '../../../core/values/json.ts'
import type { Caller } from '../../caller.ts'
import type { FieldsOf } from '../../input/exhaustive.ts'
import { json } from '../../input/json-input.ts'
import { check } from '../../input/parse.ts'
import { id, text } from '../../input/primitives.ts'
import { decision } from '../../input/unions.ts'
import type { Verb } from '../verb.ts'
import type { Send } from './send.ts'
import type { AnswerTaken } from './send-result.ts'

/** Has `answer`, or `consentId` and `decision`. */
export interface AnswerRequest {
  readonly taskId: string
  /** The answer to a question: text, or a value. */
  readonly answer?: JsonInput | undefined
  readonly consentId?: string | undefined
  readonly decision?: Decision | undefined
  /** Reaches the agent with the decision. At most 2,000 characters. */
  readonly comment?: string | undefined
  /** Granted in place of the operation that was asked for, where the consent is editable. */
  readonly operation?: JsonInput | undefined
  /** A second request of the same caller with the same key does nothing. */
  readonly idempotencyKey?: string | undefined
}

export interface CheckedAnswerRequest extends AnswerRequest {
  readonly answer?: Json | undefined
  readonly operation?: Json | undefined
}

export interface AnswerResult extends AnswerTaken {
  readonly task: Task
}

export const answerVerb: Verb<'answer', CheckedAnswerRequest> = {
  input: z.strictObject({
    taskId: id,
    answer: json.optional(),
    consentId: id.optional(),
    decision: decision.optional(),
    comment: text.max(2_000, 'must be at most 2,000 characters').optional(),
    operation: json.optional(),
    idempotencyKey: id.optional(),
  } satisfies FieldsOf<CheckedAnswerRequest>),
  audited: 'task.answer',
  doneAs: auditedAnswer,
  limited: true,
  scope: 'tasks:write',
  act: 'answer',
  method:
    ({ context, send }) =>
    async (caller, request) => {
      const checked = check(answerVerb.input, request)
      return answer(send, caller, checked, context.ids.uuid())
    },
}

/** The name of an answer in the audit log. Undefined for a message that answered nothing. */
export function auditedAnswer({
  decision: made,
  isAnswer,
}: Partial<AnswerTaken>): string | undefined {
  if (!isAnswer) return undefined
  return made === undefined ? 'task.answer' : made === 'granted' ? 'consent.grant' : 'consent.deny'
}

async function answer(
  send: Send,
  caller: Caller,
  { taskId, idempotencyKey, ...given }: CheckedAnswerRequest,
  messageId: string,
): Promise<AnswerResult> {
  const message: MessageInput = { messageId, role: 'ROLE_USER', taskId, parts: [partOf(given)] }
  const sent = await send(caller, { message, idempotencyKey, onlyAnswer: true })
  if (sent.kind === 'message') throw new Error('a message with a task got a stateless reply')
  const { latest: task, answered } = sent
  return { ...answered, task }
}

function partOf({ answer: said, ...consent }: Omit<CheckedAnswerRequest, 'taskId'>): PartInput {
  if (typeof said === 'string') return { text: said }
  return { data: said === undefined ? JSON.parse(JSON.stringify(consent)) : said }
}
