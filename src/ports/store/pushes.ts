import type { Push } from '../../core/push.ts'

/** Webhooks of tasks, and how far each has been delivered. Their key is task id and webhook id. */
export interface PushStore {
  /** Inserts or replaces. */
  putPush(push: Push): Promise<void>
  /** Ordered by id. */
  pushes(taskId: string): Promise<readonly Push[]>
  deletePush(taskId: string, id: string): Promise<void>
  /** Webhooks of all tasks, ordered by task and id, after the cursor `after`. Webhooks that are done are never listed. */
  listPushes(
    status: 'open' | 'failed',
    after: { readonly taskId: string; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly Push[]>
}
