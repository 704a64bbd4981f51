import { expiresAt } from './decide/suspending.ts'
import { isInterrupted } from './states.ts'
import type { Task } from './task.ts'

/**
 * The next instant at which the task has to be looked at: its deadline, the time its trigger fires, or the expiry of its
 * question. Undefined where nothing falls due, also once something waits for a hold to be lifted.
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
