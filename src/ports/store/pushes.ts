import type { Push } from '../../core/push.ts'

/** Webhooks of tasks and their delivery positions. The key is tenant, task id and webhook id. */
export interface PushStore {
  /** Inserts or replaces. */
  putPush(push: Push): Promise<void>
  /**
   * Writes the webhook if the stored one equals `before`. False: it was changed or deleted, and
   * this call wrote nothing. After a lost connection, an earlier attempt of the same call may have
   * written it.
   */
  replacePush(before: Push, after: Push): Promise<boolean>
  /** Ordered by id. */
  pushes(tenant: string, taskId: string): Promise<readonly Push[]>
  deletePush(tenant: string, taskId: string, id: string): Promise<void>
  /** Webhooks of all tasks, in a stable order, after the cursor `after`. Webhooks that are done are never listed. */
  listPushes(
    status: 'open' | 'failed',
    after: Pick<Push, 'owner' | 'taskId' | 'id'> | undefined,
    limit: number,
  ): Promise<readonly Push[]>
}
