/** The tasks of webhooks as of the last record that a worker read, so that they are not folded from their logs again. */
import type { Push } from '../../../core/push.ts'
import type { Task } from '../../../core/task.ts'

export interface KeptProgress {
  of(key: string, push: Push): Task | undefined
  keep(key: string, push: Push, task: Task): void
  forget(key: string): void
}

interface Progress {
  /** Identifies the webhook config. */
  readonly createdAt: number
  readonly task: Task
}

/** Webhooks whose progress is kept. For the others the task is folded from its log again. */
const MAX_PROGRESS = 512

export function createKeptProgress(): KeptProgress {
  const progress = new Map<string, Progress>()
  return {
    of(key, { createdAt }) {
      const kept = progress.get(key)
      return kept?.createdAt === createdAt ? kept.task : undefined
    },
    keep(key, { createdAt }, task) {
      progress.set(key, { createdAt, task })
      const oldest = progress.keys().next().value
      if (progress.size > MAX_PROGRESS && oldest !== undefined) progress.delete(oldest)
    },
    forget(key) {
      progress.delete(key)
    },
  }
}
