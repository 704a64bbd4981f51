/**
 * Caches the tasks of webhooks as of the last record that a worker read, so that they are not
 * folded from their logs again. A failover may undo the last records of a task and the progress of
 * its webhook (P6 of `pushes.ts`), so a cached task is used only if the stored webhook is
 * unchanged.
 */
import type { Push } from '../../../core/push.ts'
import type { Task } from '../../../core/task.ts'

export interface KeptProgress {
  /**
   * @param stored the webhook as it was read
   * @param version the current version of its task
   */
  of(key: string, stored: Push, version: number): Task | undefined
  /**
   * @param stored the webhook as the store has it. Its cursor may be behind the task, because some
   * records have no events
   */
  keep(key: string, stored: Push, task: Task): void
  forget(key: string): void
}

interface Progress {
  /** Identifies the config of the webhook. */
  readonly createdAt: number
  /**
   * The stored cursor. A different one means that the store lost writes, or that another process
   * has delivered.
   */
  readonly sentSeq: number
  readonly task: Task
}

/** The most webhooks whose progress is kept. For others the task is folded from its log again. */
const MAX_PROGRESS = 512

export function createKeptProgress(): KeptProgress {
  const progress = new Map<string, Progress>()
  return {
    of(key, { createdAt, sentSeq }, version) {
      const kept = progress.get(key)
      if (kept?.createdAt !== createdAt || kept.sentSeq !== sentSeq) return undefined
      return kept.task.version > version ? undefined : kept.task
    },
    keep(key, { createdAt, sentSeq }, task) {
      progress.set(key, { createdAt, sentSeq, task })
      const oldest = progress.keys().next().value
      if (progress.size > MAX_PROGRESS && oldest !== undefined) progress.delete(oldest)
    },
    forget(key) {
      progress.delete(key)
    },
  }
}
