import type { Push } from '../../core/push.ts'

/** Webhooks of tasks, by task and id, and how far each has been delivered. */
export interface PushStore {
  /** The latest of each stands. */
  putPush(push: Push): Promise<void>
  /** Ordered by id. */
  pushes(taskId: string): Promise<readonly Push[]>
  deletePush(taskId: string, id: string): Promise<void>
  /** Of all tasks, ordered by task and id; `after` continues. Webhooks that are done are never listed. */
  listPushes(
    status: 'open' | 'failed',
    after: { readonly taskId: string; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly Push[]>
}
