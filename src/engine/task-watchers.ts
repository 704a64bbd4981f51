/** Callbacks that are called after every write to a task, or to any task. */
import type { Task } from '../core/task.ts'
import { TransientMap } from './transient-map.ts'

export interface TaskWatchers {
  /** Returns a function that stops the watch. */
  watch(taskId: string, changed: (task: Task) => void): () => void
  watchAll(changed: (task: Task) => void): () => void
  notify(task: Task): void
}

export function createTaskWatchers(): TaskWatchers {
  const byTask = new TransientMap<Set<(task: Task) => void>>()
  const ofAllTasks = new Set<(task: Task) => void>()
  return {
    watch(taskId, changed) {
      const watchers = byTask.get(taskId) ?? new Set()
      byTask.set(taskId, watchers.add(changed))
      return () => {
        watchers.delete(changed)
        if (watchers.size === 0 && byTask.get(taskId) === watchers) byTask.delete(taskId)
      }
    },
    watchAll(changed) {
      ofAllTasks.add(changed)
      return () => ofAllTasks.delete(changed)
    },
    notify(task) {
      for (const changed of byTask.get(task.id) ?? []) changed(task)
      for (const changed of ofAllTasks) changed(task)
    },
  }
}
