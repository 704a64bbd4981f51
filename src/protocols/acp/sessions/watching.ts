/**
 * One watcher of the engine for all sessions, so that a write costs one look-up, however many
 * clients are attached.
 */
import type { Task } from '../../../core/task.ts'
import type { Engine } from '../../../engine/engine.ts'

export interface Watching {
  /**
   * Calls `changed` after every durable write to a task of that context.
   * @returns a function that stops the calls
   */
  on(contextId: string, changed: (task: Task) => void): () => void
  close(): void
}

export function createWatching(engine: Engine): Watching {
  const watchers = new Map<string, Set<(task: Task) => void>>()
  const isAttached = (): boolean => watchers.size > 0
  const close = engine.watch((task) => {
    const watching = watchers.get(task.contextId)
    if (watching !== undefined) for (const changed of watching) changed(task)
  }, isAttached)
  return {
    on(contextId, changed) {
      const watching = watchers.get(contextId) ?? new Set()
      watchers.set(contextId, watching.add(changed))
      return () => {
        watching.delete(changed)
        if (watching.size === 0 && watchers.get(contextId) === watching) watchers.delete(contextId)
      }
    },
    close,
  }
}
