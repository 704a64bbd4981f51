/** Moves along the table, and what goes with them. */
import type { Message } from '../message.ts'
import { canMove, type State } from '../states.ts'
import type { Task } from '../task.ts'

export function move(
  task: Task,
  to: State,
  at: number,
): { readonly state: State; readonly statusAt: number } {
  if (!canMove(task.state, to))
    throw new Error(`task ${task.id}: ${task.state} cannot become ${to}`)
  return { state: to, statusAt: at }
}

/** A new status: the message of the one before it becomes history. */
export function report(task: Task, message: Message | undefined, at: number): Partial<Task> {
  return { statusAt: at, statusMessage: message, history: withStatus(task) }
}

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
    ...move(task, state, at),
    ...report(task, message, at),
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
