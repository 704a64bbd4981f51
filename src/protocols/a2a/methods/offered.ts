/** Refuses methods that the agent does not offer, before the parameters are read. */
import { LullError } from '../../../core/errors.ts'
import { isPaused } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { type Offers, offersOf } from '../../../engine/requests/offers.ts'
import type { A2AContext, Call } from '../call.ts'
import { isOwn } from './own-task.ts'

/**
 * An agent that offers the capability passes. Otherwise two tasks are excepted: one of another agent, at the address
 * that serves all agents; and one that is stopped (by policy, by a hold), because it must be possible to resume it.
 * @throws LullError `NOT_OFFERED`, whatever the parameters say
 */
export async function requireOffer(
  a2a: A2AContext,
  call: Call,
  capability: keyof Offers,
  taskId: unknown,
): Promise<void> {
  const { agent } = call
  if (agent.offers[capability]) return
  const task = typeof taskId === 'string' ? await found(a2a, call, taskId) : undefined
  if (task !== undefined && isExcepted(a2a, call, capability, task)) return
  throw new LullError('NOT_OFFERED', { agent: agent.name, capability })
}

function isExcepted(
  { engine }: A2AContext,
  { agent }: Call,
  capability: keyof Offers,
  task: Task,
): boolean {
  if (!isOwn(agent, task)) return false
  const own = engine.agents.get(task.agent)
  if (own !== undefined && offersOf(own)[capability]) return true
  return capability === 'pause' && isPaused(task.state)
}

async function found(
  { engine }: A2AContext,
  { caller }: Call,
  taskId: string,
): Promise<Task | undefined> {
  try {
    return await engine.get(caller, taskId)
  } catch {
    return undefined
  }
}
