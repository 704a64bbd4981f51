/**
 * Handles a message that arrives. Each case is one file:
 *
 *   names a task, or answers its consent question  ──▶ continue-task (answered-consent finds the task)
 *   an agent that decides before a task exists     ──▶ receive-message: a reply, a rejection, or a task
 *   any other agent                                ──▶ start-task
 *
 * Each case recognizes a repeated message: by `in-flight` while the first one is handled, and later by its claim.
 */
import { z } from 'zod'
import { LullError } from '../../../core/errors.ts'
import type { MakePush } from '../../../core/push.ts'
import type { Caller } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import { list } from '../../input/bounded.ts'
import type { FieldsOf } from '../../input/exhaustive.ts'
import { message } from '../../input/message.ts'
import { check, memberOf, parse } from '../../input/parse.ts'
import { id, jsonObject } from '../../input/primitives.ts'
import { type CheckedSendRequest, reminderInput, type SendRequest } from '../../input/requests.ts'
import type { Verb } from '../verb.ts'
import { auditedAnswer } from './answer-task.ts'
import { taskOfConsent } from './answered-consent.ts'
import { continueTask, repeatToRemoved } from './continue-task.ts'
import { agentNamed } from './create.ts'
import { createInFlight } from './in-flight.ts'
import { receiveMessage } from './receive-message.ts'
import type { Incoming, Sending, SendResult } from './send-result.ts'
import { startTask } from './start-task.ts'

/** The message is checked by itself, because a protocol may have done it. */
export type UncheckedMessage = Omit<SendRequest, 'message'> & { readonly message?: unknown }

export const sendVerb: Verb<'send', UncheckedMessage> = {
  input: z.strictObject({
    agent: id.optional(),
    message: z.unknown(),
    idempotencyKey: id.optional(),
    metadata: jsonObject.optional(),
    origin: id.optional(),
    onlyAnswer: z.boolean().optional(),
    reminders: list(reminderInput, 64).optional(),
  } satisfies FieldsOf<UncheckedMessage>),
  audited: 'task.message',
  taskOf: (request) => memberOf(memberOf(request, 'message'), 'taskId'),
  onlyRefused: true,
  doneAs: (sent) => (sent.kind === 'task' ? auditedAnswer(sent.answered ?? {}) : undefined),
  limited: true,
  scope: 'tasks:write',
  act: 'answer',
  method: ({ send }) => send,
}

/** @throws LullError `INVALID_INPUT` */
function checkSend(given: SendRequest): CheckedSendRequest {
  const request = parse(sendVerb.input, given)
  return { ...request, message: check(message, request.message, 'message') }
}

export type Send = (
  caller: Caller,
  request: SendRequest,
  extras?: { readonly push?: MakePush },
) => Promise<SendResult>

export function createSend(context: EngineContext): Send {
  const inFlight = createInFlight<SendResult>((sent) => ({ ...sent, repeated: true }))
  const sending: Sending = { context, inFlight }
  return async (caller, given, { push } = {}) => {
    // Checked before the message is parsed, because a refusal under load must be cheap.
    context.ledger.admit()
    const request = checkSend(given)
    if (context.draining()) throw new LullError('DRAINING', { retryAfterMs: 1_000 })
    return handle(sending, { caller, request, push })
  }
}

async function handle(sending: Sending, incoming: Incoming): Promise<SendResult> {
  const { context } = sending
  const { caller, request } = incoming
  const { taskId, referenceTaskIds } = request.message
  if (taskId !== undefined) {
    const repeat = await repeatToRemoved(context, incoming, taskId)
    return (
      repeat ??
      continueTask(sending, incoming, await taskFor(context, caller, taskId, sendVerb.act))
    )
  }
  const asking = referenceTaskIds && (await taskOfConsent(context, incoming))
  if (asking !== undefined) return continueTask(sending, incoming, asking)
  if (request.onlyAnswer) throw new LullError('FORBIDDEN', { scope: 'tasks:write' })
  const agent = agentNamed(context, request.agent)
  return agent.receive === undefined
    ? startTask(sending, incoming, agent)
    : context.table.during(agent, () => receiveMessage(sending, incoming, agent))
}
