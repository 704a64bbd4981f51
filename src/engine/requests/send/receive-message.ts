/**
 * An agent with `receive` decides about a message before a task exists: a stateless reply, a rejection, or a new task.
 * `receive` is called once per idempotency key. The key is claimed before, and the claim has the id of the task to
 * create. One process at a time handles a key, so a key that is claimed without an outcome was left by a process that
 * died.
 */

import { isLullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import type { Agent, ReceiveResult } from '../../author/agent.ts'
import { emptyConversation } from '../../author/conversation.ts'
import { withDuty } from '../../cluster/with-duty.ts'
import { readParts } from '../../run/operations/outputs.ts'
import { contextBegunBy } from '../context-id.ts'
import { pastOfMessage } from '../past.ts'
import { checkSame, claimFor, outcomeOf } from './claims.ts'
import { createFromMessage } from './create.ts'
import { nameOf } from './in-flight.ts'
import type { Incoming, Sending, SendResult } from './send-result.ts'
import { created } from './start-task.ts'
import { inputOf } from './task-input.ts'

/** What is known before `receive` is called. */
interface Undecided extends Incoming {
  readonly agent: Agent
  /** The id of the task, if one is created. */
  readonly taskId: string
  readonly contextId: string
  readonly claim: Claim | undefined
}

export async function receiveMessage(
  sending: Sending,
  incoming: Incoming,
  agent: Agent,
): Promise<SendResult> {
  const { context, inFlight } = sending
  const { contextId } = incoming.request.message
  const ask = async (taskId: string, claim: Claim | undefined): Promise<SendResult> => {
    await context.quotas.admit(incoming.caller, { tasks: 1, bytes: weightOf(incoming.request) })
    return decide(sending, {
      ...incoming,
      agent,
      taskId,
      contextId: contextId ?? contextBegunBy(taskId),
      claim,
    })
  }
  const taskId = context.ids.uuid()
  const mine = claimFor(context, incoming, agent.name, taskId)
  if (mine === undefined) return ask(taskId, undefined)
  const duty = `receive ${sha256(nameOf(mine))}`
  const receive = async (): Promise<SendResult> => {
    const owner = await context.store.claim(mine)
    checkSame(owner, mine)
    const { message } = incoming.request
    const known = owner.taskId === taskId ? undefined : await outcomeOf(context, owner, message)
    return known ?? ask(owner.taskId, owner)
  }
  return inFlight.once(mine, () => withDuty(context, duty, receive))
}

async function decide(sending: Sending, undecided: Undecided): Promise<SendResult> {
  const { agent, taskId, contextId } = undecided
  const said = await askAgent(sending, undecided)
  if (said?.kind === 'reject') {
    const rejected = { agent, taskId, contextId, rejection: said.why }
    return created(await createFromMessage(sending, undecided, rejected))
  }
  if (said === undefined && agent.run !== undefined) {
    const input = await inputOf(agent, undecided.request.message)
    return created(await createFromMessage(sending, undecided, { agent, taskId, contextId, input }))
  }
  const parts = said?.parts ?? [{ text: `${agent.name} has no answer to that` }]
  return { kind: 'message', message: await reply(sending, undecided, parts), repeated: false }
}

async function askAgent(
  { context }: Sending,
  { agent, caller, request, contextId }: Undecided,
): Promise<ReceiveResult | undefined> {
  const { message } = request
  const { tenant, principal } = caller
  const conversation =
    message.contextId === undefined
      ? emptyConversation
      : (await pastOfMessage(context, { tenant, principal, contextId }, message)).context
  try {
    const received = await agent.receive?.(message, {
      context: conversation,
      principal,
      reply: (content) => ({ kind: 'reply', parts: readParts(content) }),
      reject: (why) => ({ kind: 'reject', why }),
    })
    return checked(received)
  } catch (error) {
    context.log('error', 'an agent failed to receive a message', { agent: agent.name, error })
    if (isLullError(error)) throw error
    const { message: why } = describeError(error)
    throw new Error(`Agent ${agent.name} failed to receive the message: ${why}`)
  }
}

/** @throws TypeError for an answer that `reply` and `reject` did not make */
function checked(received: ReceiveResult | undefined): ReceiveResult | undefined {
  if (received === undefined) return undefined
  if (received?.kind === 'reply') return { kind: 'reply', parts: readParts(received.parts) }
  if (received?.kind === 'reject' && typeof received.why === 'string') return received
  throw new TypeError('receive must return reply(content), reject(text) or nothing')
}

/** Stores the reply in the context and with the claim, and returns it afterwards. */
async function reply(
  { context: { store, ids, clock } }: Sending,
  { caller, request, contextId, claim }: Undecided,
  parts: Message['parts'],
): Promise<Message> {
  const { tenant, principal } = caller
  const answer: Message = { messageId: ids.uuid(), role: 'ROLE_AGENT', parts, contextId }
  const at = clock.now()
  const exchange = [{ ...request.message, contextId }, answer]
  await store.reply(
    claim && { ...claim, reply: answer },
    exchange.map((message) => ({ tenant, principal, contextId, at, message })),
  )
  return answer
}
