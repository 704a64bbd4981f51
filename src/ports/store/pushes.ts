import type { Push } from '../../core/push.ts'

/** Webhooks of tasks, and how far each has been delivered. Their key is task id and webhook id. */
export interface PushStore {
  /** Inserts or replaces. */
  putPush(push: Push): Promise<void>
  /**
   * Writes the webhook if the stored one is `before`. False: it is another one or deleted, and nothing was written by this
   * call. When the connection was lost, an earlier attempt may have written it.
   */
  replacePush(before: Push, after: Push): Promise<boolean>
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
