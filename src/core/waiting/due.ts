import { expiresAt } from '../decide/suspending.ts'
import { isInterrupted } from '../states.ts'
import type { Task } from '../task.ts'

/**
 * The next instant at which the task changes without a request: its deadline, the instant of its
 * trigger, or the expiry of its question. Undefined if there is none, or if a wake is already
 * stored until a hold is lifted.
 */
export function nextDueAt(
  task: Pick<Task, 'state' | 'deferred' | 'question' | 'suspension'>,
): number | undefined {
  const { state, deferred, question, suspension } = task
  if (deferred !== undefined) return undefined
  if (isInterrupted(state)) return question && expiresAt(question)
  if (suspension === undefined) return undefined
  const { fireAt, deadlineAt } = suspension
  if (fireAt === undefined) return deadlineAt
  return deadlineAt === undefined ? fireAt : Math.min(fireAt, deadlineAt)
}
