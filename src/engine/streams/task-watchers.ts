/** Callbacks after every write to one task, or to any task. */
import type { Task } from '../../core/task.ts'
import { TransientMap } from '../limits/transient-map.ts'

export interface TaskWatchers {
  /** Returns a function that stops the watch. */
  watch(taskId: string, changed: (task: Task) => void): () => void
  /**
   * @param wants whether writes of other processes to the task are reported too. Default: always
   */
  watchAll(changed: (task: Task) => void, wants?: (taskId: string) => boolean): () => void
  readonly taskIds: () => readonly string[]
  readonly isWatched: (taskId: string) => boolean
  notify(task: Task): void
}

export function createTaskWatchers(): TaskWatchers {
  const byTask = new TransientMap<Set<(task: Task) => void>>()
  const ofAllTasks = new Map<(task: Task) => void, (taskId: string) => boolean>()
  return {
    watch(taskId, changed) {
      const watchers = byTask.get(taskId) ?? new Set()
      byTask.set(taskId, watchers.add(changed))
      return () => {
        watchers.delete(changed)
        if (watchers.size === 0 && byTask.get(taskId) === watchers) byTask.delete(taskId)
      }
    },
    watchAll(changed, wants = () => true) {
      ofAllTasks.set(changed, wants)
      return () => ofAllTasks.delete(changed)
    },
    taskIds: () => [...byTask.keys()],
    isWatched: (taskId) =>
      byTask.has(taskId) || [...ofAllTasks.values()].some((wants) => wants(taskId)),
    notify(task) {
      for (const changed of byTask.get(task.id) ?? []) changed(task)
      for (const changed of ofAllTasks.keys()) changed(task)
    },
  }
}
