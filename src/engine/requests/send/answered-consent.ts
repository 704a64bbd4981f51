/** Answers to consent questions: finds the task that a message without a task id answers, and reads the decision. */
import type { z } from 'zod'
import { knowsMessage } from '../../../core/decide/lifecycle.ts'
import { type Message, textOf } from '../../../core/messages/message.ts'
import type { Decision, DecisionContent } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Agent } from '../../author/agent.ts'
import { notAwaited } from '../../author/providers/provider.ts'
import { mayAct } from '../../caller.ts'
import type { EngineContext } from '../../context.ts'
import { consentAnswer } from '../../input/inputs.ts'
import { claimFor, isKey } from './claims.ts'
import type { Incoming } from './send-result.ts'

/**
 * A message without a task id answers a consent question if exactly one of the tasks it refers to, in the same context,
 * asks for consent. A repeat of that message finds the same task, also after the task has gone on.
 */
export async function taskOfConsent(
  context: EngineContext,
  incoming: Incoming,
): Promise<Task | undefined> {
  const { contextId, referenceTaskIds = [] } = incoming.request.message
  if (contextId === undefined || referenceTaskIds.length === 0) return undefined
  const read = await Promise.all(
    referenceTaskIds.map((taskId) => context.ledger.read(taskId, incoming.caller.tenant)),
  )
  const tasks = read
    .filter((task) => task !== undefined)
    .filter((task) => task.contextId === contextId && mayAct(incoming.caller, 'answer', task))
  const answered = await answeredBefore(context, incoming, tasks)
  if (answered !== undefined) return answered
  const asking = tasks.filter((task) => task.state === 'user-consent-required')
  return asking.length === 1 ? asking[0] : undefined
}

/** If the sender chose an idempotency key, only the key identifies a repeat. */
async function answeredBefore(
  context: EngineContext,
  incoming: Incoming,
  tasks: readonly Task[],
): Promise<Task | undefined> {
  const { message, idempotencyKey } = incoming.request
  if (idempotencyKey === undefined) {
    return isKey(context, message) ? tasks.find((task) => knowsMessage(task, message)) : undefined
  }
  for (const task of tasks) {
    const mine = claimFor(context, incoming, task.agent, task.id)
    const known = mine && (await context.store.findClaim(mine))
    if (known?.taskId === task.id) return task
  }
  return undefined
}

export interface ConsentAnswer {
  readonly consentId?: string
  readonly decision?: Decision
  readonly content?: DecisionContent
}

/** Reads a structured answer, or free text if the agent has `acceptTextConsent`. */
export function consentIn(
  { log }: Pick<EngineContext, 'log'>,
  message: Message,
  agent: Agent | undefined,
): ConsentAnswer {
  const structured = structuredConsentIn(message)
  if (structured !== undefined) return structured
  try {
    const accepted: unknown = notAwaited(agent?.acceptTextConsent?.(textOf(message)))
    if (accepted === undefined) return {}
    if (typeof accepted === 'boolean') return { decision: accepted ? 'granted' : 'denied' }
    // Only a boolean decides. A promise is truthy and must not count as consent.
    throw new TypeError('acceptTextConsent must return true, false or undefined, and no promise')
  } catch (error) {
    log('warn', 'an agent could not read consent out of a text', { agent: agent?.name, error })
    return {}
  }
}

function consentOf({
  consentId,
  decision,
  comment,
  operation,
}: z.output<typeof consentAnswer>): ConsentAnswer {
  const content = {
    ...(comment === undefined ? {} : { comment }),
    ...(operation === undefined ? {} : { operation }),
  }
  return { consentId, decision, ...(Object.keys(content).length === 0 ? {} : { content }) }
}

export function structuredConsentIn(message: Message): ConsentAnswer | undefined {
  for (const place of placesOf(message)) {
    const answer = consentAnswer.safeParse(place)
    if (answer.success) return consentOf(answer.data)
  }
  return undefined
}

/** The values that may be an answer: data parts, and metadata under the key of a consent extension. */
function placesOf(message: Message): readonly unknown[] {
  const parts = message.parts.map((part) => ('data' in part ? part.data : undefined))
  const metadata = Object.entries(message.metadata ?? {})
  return [
    ...parts,
    ...metadata.flatMap(([key, value]) => (key.includes('user-consent') ? [value] : [])),
  ]
}
