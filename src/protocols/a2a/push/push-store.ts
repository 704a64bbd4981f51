import type { Push } from '../../../core/push.ts'

/** Where the outbox is kept: the task store has these methods. */
export interface PushStore {
  putPush(push: Push): Promise<void>
  pushes(taskId: string): Promise<readonly Push[]>
  deletePush(taskId: string, id: string): Promise<void>
  listPushes(
    status: 'open' | 'failed',
    after: { readonly taskId: string; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly Push[]>
}
