/** What a pause or a park by a worker is answered. */

import { LullError } from '../../core/errors.ts'
import { mayStillAct } from '../../core/evolve/abandoned.ts'
import { isPaused, isTerminal, type State } from '../../core/states.ts'
import type { Suspension } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'

/** The request is durable. */
export interface PauseAnswer {
  readonly taskId: string
  readonly state: State
  /** The grace time passed before the pause committed. Its commit follows as a record. */
  readonly pausing?: true
  readonly handle: string
  readonly requestedAt: number
  readonly pausedAt?: number
  readonly deadlineAt?: number
  readonly reason?: string
  readonly conditions?: ResumeConditions
  /** Steps that were told to stop and did not. They may act although the task is stopped. */
  readonly mayStillAct?: readonly string[]
}

/**
 * @param asked who asked for the stop. A client that asked and finds the agent's park was too late: its own pause was ended
 * by a resume before it committed.
 * @throws LullError `TASK_NOT_PAUSABLE` when the stop that was asked for did not happen
 */
export function pauseAnswer(task: Task, asked: Suspension['initiator']): PauseAnswer {
  const stopped = task.suspension ?? task.pausing
  const isParkInstead = asked === 'client' && stopped?.initiator === 'agent'
  // The task ended or was resumed before the pause committed.
  if (stopped === undefined || isParkInstead) {
    const why = isTerminal(task.state) ? `it is ${task.state}` : 'it was resumed before it stopped'
    throw new LullError('TASK_NOT_PAUSABLE', { taskId: task.id, state: task.state, why })
  }
  const { handle, requestedAt, pausedAt, deadlineAt, reason, conditions } = stopped
  const acting = mayStillAct(task)
  return {
    taskId: task.id,
    state: task.state,
    ...(isPaused(task.state) ? {} : { pausing: true as const }),
    handle,
    requestedAt,
    ...(pausedAt === undefined ? {} : { pausedAt }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(reason === undefined ? {} : { reason }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(acting === undefined ? {} : { mayStillAct: acting }),
  }
}
