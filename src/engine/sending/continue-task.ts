/** A message to a task that exists: an answer where it asked something, queued for its next turn otherwise. */
import type { Command } from '../../core/commands.ts'
import { knowsMessage } from '../../core/decide/lifecycle.ts'
import { LullError } from '../../core/errors.ts'
import { type Message, textOf } from '../../core/message.ts'
import type { Decision, RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import { type Caller, maySee } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { consentAnswer } from '../inputs.ts'
import type { CommitExtras } from '../ledger.ts'
import type { SendRequest } from '../requests.ts'
import { checkSame, claimFor, isKey } from './claims.ts'
import type { Sent } from './sent.ts'

export async function continueTask(
  context: EngineContext,
  caller: Caller,
  message: Message,
  taskId: string,
  { idempotencyKey, push }: Pick<SendRequest, 'idempotencyKey'> & Pick<CommitExtras, 'push'>,
): Promise<Sent> {
  const { agents, runs, store } = context
  const found = await taskFor(context, caller, taskId)
  if (message.contextId !== undefined && message.contextId !== found.contextId) {
    const problem = `is not the context of task ${taskId}`
    throw new LullError('INVALID_INPUT', { path: 'message.contextId', problem })
  }
  if (idempotencyKey !== undefined) {
    const mine = claimFor(context, caller, found.agent, message, taskId, idempotencyKey)
    if (mine !== undefined) checkSame(await store.claim(mine), mine, idempotencyKey)
  }
  const once = idempotencyKey !== undefined || isKey(context, message)
  const whole = { ...message, taskId, contextId: found.contextId }
  const consent = (): ConsentAnswer => consentIn(context, message, agents.get(found.agent))
  const command = (now: Task | undefined, run: RunToken | undefined): Command => ({
    type: 'message',
    message: whole,
    once,
    ...(now?.question?.consent === undefined ? {} : consent()),
    ...(run === undefined ? {} : { run }),
  })
  const committed = await runs.commit(taskId, found.agent, command, { push })
  const { task, records, laterRecords, latest } = committed
  return { kind: 'task', task, laterRecords, latest, repeated: records.length === 0 }
}

/**
 * A message that names no task but refers to exactly one of its context that asks for consent answers that one. So does
 * the same message again, when the task has gone on.
 */
export async function consentAskedFor(
  context: EngineContext,
  caller: Caller,
  message: Message,
): Promise<Task | undefined> {
  const { contextId, referenceTaskIds = [] } = message
  if (contextId === undefined || referenceTaskIds.length === 0) return undefined
  const read = await Promise.all(referenceTaskIds.map((taskId) => context.ledger.read(taskId)))
  const tasks = read
    .filter((task) => task !== undefined)
    .filter((task) => task.contextId === contextId && maySee(caller, task))
  const asking = tasks.filter((task) => task.state === 'user-consent-required')
  if (asking.length === 1) return asking[0]
  return isKey(context, message) ? tasks.find((task) => knowsMessage(task, message)) : undefined
}

interface ConsentAnswer {
  readonly consentId?: string
  readonly decision?: Decision
}

/** A structured answer decides; free text only where the agent reads it. */
function consentIn(
  { log }: EngineContext,
  message: Message,
  agent: Agent | undefined,
): ConsentAnswer {
  for (const place of placesOf(message)) {
    const answer = consentAnswer.safeParse(place)
    if (answer.success) return answer.data
  }
  try {
    const accepted = agent?.acceptTextConsent?.(textOf(message))
    return accepted === undefined ? {} : { decision: accepted ? 'granted' : 'denied' }
  } catch (error) {
    log('warn', 'an agent could not read consent out of a text', { agent: agent?.name, error })
    return {}
  }
}

/** `{consentId, decision}` is looked for in data parts and under a consent extension's key in the metadata. */
function placesOf(message: Message): readonly unknown[] {
  const parts = message.parts.map((part) => ('data' in part ? part.data : undefined))
  const metadata = Object.entries(message.metadata ?? {})
  return [
    ...parts,
    ...metadata.flatMap(([key, value]) => (key.includes('user-consent') ? [value] : [])),
  ]
}
