/**
 * Changes of state, checked against the transition table. They change the task in place, because
 * every task goes through them and copies are expensive.
 */
import type { Message } from '../messages/message.ts'
import { canMove, type State } from '../states.ts'
import type { Task } from '../task.ts'
import type { OwnTask } from './own-task.ts'

export function move(task: Task, to: State): State {
  if (!canMove(task.state, to))
    throw new Error(`task ${task.id}: ${task.state} cannot become ${to}`)
  return to
}

/** Setting a new status message moves the previous one to the history. */
export function withStatus(task: Task): readonly Message[] {
  return task.statusMessage === undefined ? task.history : [...task.history, task.statusMessage]
}

const none: readonly never[] = []

/** Applies the end of a task in place. */
export function end(
  task: OwnTask,
  state: State,
  message: Message | undefined,
  at: number,
): undefined {
  task.state = move(task, state)
  task.statusAt = at
  task.history = withStatus(task)
  task.statusMessage = message
  task.queued = none
  task.question = undefined
  task.pausing = undefined
  task.suspension = undefined
  task.deferred = undefined
  task.holds = none
  task.run = undefined
  task.reminders = none
}
