import type { Task } from '../../core/task.ts'

/** The task of a run, as last written by any writer. A run may start before its task is durable. */
export class FollowedTask {
  #task: Task
  #durable: boolean
  #waiting: (() => void)[] = []

  /** @param ahead whether the task is not durable yet */
  constructor(task: Task, ahead: boolean) {
    this.#task = task
    this.#durable = !ahead
  }

  get task(): Task {
    return this.#task
  }

  /** A task that was written is durable. */
  follow(task: Task): void {
    this.#task = task
    this.#durable = true
    if (this.#waiting.length === 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when the task is durable. Undefined if it is. */
  durable(): Promise<void> | undefined {
    if (this.#durable) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
