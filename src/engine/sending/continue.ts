/** A message to a task that exists: an answer where it asked something, queued for its next turn otherwise. */
import { LullError } from '../../core/errors.ts'
import { type Message, textOf } from '../../core/message.ts'
import type { Decision } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import { type Caller, maySee } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { checkSame, claimFor, isKey } from './claims.ts'
import type { Sent } from './sent.ts'

export async function continueTask(
  context: EngineContext,
  caller: Caller,
  message: Message,
  taskId: string,
  explicitKey: string | undefined,
): Promise<Sent> {
  const { agents, runs, store } = context
  const found = await taskFor(context, caller, taskId)
  if (message.contextId !== undefined && message.contextId !== found.contextId) {
    const problem = `is not the context of task ${taskId}`
    throw new LullError('INVALID_INPUT', { path: 'message.contextId', problem })
  }
  if (explicitKey !== undefined) {
    const mine = claimFor(context, caller, found.agent, message, taskId, explicitKey)
    if (mine !== undefined) checkSame(await store.claim(mine), mine, explicitKey)
  }
  const keyed = explicitKey !== undefined || isKey(context, message)
  if (keyed && has(found, message)) return { kind: 'task', task: found, repeated: true }
  if (isTerminal(found.state)) throw new LullError('TASK_TERMINAL', { taskId, state: found.state })
  const whole = { ...message, taskId, contextId: found.contextId }
  const { task } = await runs.commit(taskId, found.agent, (now, run) => ({
    type: 'message',
    message: whole,
    ...(now?.question?.consent === undefined ? {} : consentIn(message, agents.get(found.agent))),
    ...(run === undefined ? {} : { run }),
  }))
  return { kind: 'task', task, repeated: false }
}

function has(task: Task, { messageId }: Message): boolean {
  return task.history.some((known) => known.messageId === messageId)
}

/** A message that names no task but refers to exactly one of its context that asks for consent answers that one. */
export async function consentAskedFor(
  { ledger }: EngineContext,
  caller: Caller,
  message: Message,
): Promise<Task | undefined> {
  const { contextId, referenceTaskIds = [] } = message
  if (contextId === undefined || referenceTaskIds.length === 0) return undefined
  const tasks = await Promise.all(referenceTaskIds.map((taskId) => ledger.read(taskId)))
  const asking = tasks.filter(
    (task) =>
      task?.state === 'user-consent-required' &&
      task.contextId === contextId &&
      maySee(caller, task),
  )
  return asking.length === 1 ? asking[0] : undefined
}

interface ConsentAnswer {
  readonly consentId?: string
  readonly decision?: Decision
}

/** A structured answer decides; free text only where the agent reads it. */
function consentIn(message: Message, agent: Agent | undefined): ConsentAnswer {
  for (const place of placesOf(message)) {
    if (typeof place !== 'object' || place === null) continue
    const { consentId, decision } = place as { consentId?: unknown; decision?: unknown }
    if (typeof consentId !== 'string' || (decision !== 'granted' && decision !== 'denied')) continue
    return { consentId, decision }
  }
  const accepted = agent?.acceptTextConsent?.(textOf(message))
  return accepted === undefined ? {} : { decision: accepted ? 'granted' : 'denied' }
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
