/**
 * Which tenant each task belongs to, as far as this process knows it. The store finds a task by its
 * tenant and its id, and the engine by its id, because ids are unique among all tenants.
 *
 * TP1  Only what the store has answered is remembered. What a caller believes is tried and not
 *      remembered, so a caller of another tenant cannot hide a task from its own.
 * TP2  If nobody knows the tenant, the store is asked in all its parts. Sends, steps, stops and wakes
 *      know it (task-places.test.ts).
 */
import type { TaskKey, TaskStore } from '../../ports/store/tasks.ts'
import { TransientMap } from '../limits/transient-map.ts'

export interface TaskPlaces {
  /**
   * The key of a task. Undefined if there is no such task.
   * @param tenant the tenant that the caller believes the task to have
   * @throws LullError `STORE_UNAVAILABLE`
   */
  keyOf(taskId: string, tenant?: string): Promise<TaskKey | undefined>
  /** Called with the tenant of a task that the store has. */
  learn(taskId: string, tenant: string): void
}

/** Places are kept in two generations of this size. */
const KEPT = 50_000

export function createTaskPlaces(store: Pick<TaskStore, 'tenantOf'>): TaskPlaces {
  let newer = new TransientMap<string>()
  let older = new TransientMap<string>()

  function learn(taskId: string, tenant: string): void {
    if (newer.size >= KEPT) {
      older = newer
      newer = new TransientMap()
    }
    newer.set(taskId, tenant)
  }

  return {
    async keyOf(taskId, tenant) {
      const recent = newer.get(taskId)
      if (recent !== undefined) return { tenant: recent, id: taskId }
      const known = older.get(taskId)
      if (known !== undefined) learn(taskId, known)
      const likely = known ?? tenant
      if (likely !== undefined) return { tenant: likely, id: taskId }
      const found = await store.tenantOf(taskId)
      if (found === undefined) return undefined
      learn(taskId, found)
      return { tenant: found, id: taskId }
    },
    learn,
  }
}
