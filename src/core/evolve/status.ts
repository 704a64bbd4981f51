/** State changes along the transition table. They change the task in place: they run for every task, and copies cost. */
import type { Message } from '../messages/message.ts'
import { canMove, type State } from '../states.ts'
import type { Task } from '../task.ts'
import type { OwnTask } from './own-task.ts'

export function move(task: Task, to: State): State {
  if (!canMove(task.state, to))
    throw new Error(`task ${task.id}: ${task.state} cannot become ${to}`)
  return to
}

/** A new status: the message of the one before it becomes history. */
export function withStatus(task: Task): readonly Message[] {
  return task.statusMessage === undefined ? task.history : [...task.history, task.statusMessage]
}

const none: readonly never[] = []

/** Folds the end into the task itself. */
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
