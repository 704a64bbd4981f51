/**
 * The tasks of webhooks as of the last record that a worker read, so that they are not folded from their logs again.
 *
 * A failover may take back both the last records of a task and how far its webhook was (P6). Progress is therefore used
 * only while the store still has what it had when the progress was kept.
 */
import type { Push } from '../../../core/push.ts'
import type { Task } from '../../../core/task.ts'

export interface KeptProgress {
  /**
   * @param stored the webhook as it was read
   * @param version of its task now
   */
  of(key: string, stored: Push, version: number): Task | undefined
  /** @param stored the webhook as the store has it. Its cursor may be behind the task, when records had no events */
  keep(key: string, stored: Push, task: Task): void
  forget(key: string): void
}

interface Progress {
  /** Identifies the webhook config. */
  readonly createdAt: number
  /** As it was stored. Another one means that the store went back, or that another process delivered. */
  readonly sentSeq: number
  readonly task: Task
}

/** Webhooks whose progress is kept. For the others the task is folded from its log again. */
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
