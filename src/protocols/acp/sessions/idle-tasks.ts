/** Decides when a task of a session is idle for this connection, and notifies the waiters. */
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Questions } from '../prompts/questions.ts'
import { isIdle } from '../render/updates.ts'
import type { TaskFollowers } from './task-followers.ts'

export interface IdleTasks {
  /**
   * Whether the task is idle. It is not while the client is being asked the task's question,
   * because the answer belongs to the same prompt.
   */
  has(task: Task): boolean
  /** Called after a record was sent: notifies the follower if the task is idle. */
  update(task: Task): void
  /** Called when the client dismissed the question of the task. */
  dismissed(taskId: string): void
}

export function createIdleTasks(
  followers: Pick<TaskFollowers, 'get'>,
  questions: Questions,
): IdleTasks {
  /**
   * Ends the prompts of the task and of its parents, because the user has to write the next prompt.
   * `visited` is needed because imported tasks can name each other as parents.
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
