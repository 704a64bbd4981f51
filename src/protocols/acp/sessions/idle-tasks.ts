/** When a task of a session is idle for this connection, and who is told. */
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Questions } from '../prompts/questions.ts'
import { isIdle } from '../render/updates.ts'
import type { TaskFollowers } from './task-followers.ts'

export interface IdleTasks {
  /** False while the client is being asked what the task asks: the answer belongs to the same prompt. */
  has(task: Task): boolean
  /** Tells the follower of the task, after a record was sent, when the task is idle. */
  update(task: Task): void
  /** The client dismissed the question of the task. */
  dismissed(taskId: string): void
}

export function createIdleTasks(
  followers: Pick<TaskFollowers, 'get'>,
  questions: Questions,
): IdleTasks {
  /**
   * The user has to write the next prompt. That ends the prompt of the parent task too. Imported tasks can name each other as
   * parents.
   */
  function yieldToUser(task: Task, visited: Set<string> = new Set()): void {
    followers.get(task.id)?.becameIdle()
    visited.add(task.id)
    const parent = task.parentId === undefined ? undefined : followers.get(task.parentId)?.task
    if (parent !== undefined && !visited.has(parent.id)) yieldToUser(parent, visited)
  }

  function has(task: Task): boolean {
    const isInterruptedChild = task.parentId !== undefined && isInterrupted(task.state)
    const isBeingAsked = isInterrupted(task.state) && questions.asking(task.id)
    return isIdle(task) && !isInterruptedChild && !isBeingAsked
  }

  return {
    has,
    update(task) {
      if (has(task)) followers.get(task.id)?.becameIdle()
      else if (isInterrupted(task.state) && !questions.asking(task.id)) yieldToUser(task)
    },
    dismissed(taskId) {
      const task = followers.get(taskId)?.task
      if (task !== undefined && isInterrupted(task.state)) yieldToUser(task)
    },
  }
}
