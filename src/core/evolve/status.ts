/** Moves along the table, and what goes with them. Written out: these run for every task, and copies of copies are dear. */
import type { Message } from '../message.ts'
import { canMove, type State } from '../states.ts'
import type { Task } from '../task.ts'

export function move(task: Task, to: State): State {
  if (!canMove(task.state, to))
    throw new Error(`task ${task.id}: ${task.state} cannot become ${to}`)
  return to
}

/** A new status: the message of the one before it becomes history. */
export function withStatus(task: Task): readonly Message[] {
  return task.statusMessage === undefined ? task.history : [...task.history, task.statusMessage]
}

export function end(
  task: Task,
  state: State,
  message: Message | undefined,
  at: number,
): Partial<Task> {
  return {
    state: move(task, state),
    statusAt: at,
    statusMessage: message,
    history: withStatus(task),
    queued: [],
    question: undefined,
    pausing: undefined,
    suspension: undefined,
    deferred: undefined,
    holds: [],
    run: undefined,
    reminders: [],
  }
}
