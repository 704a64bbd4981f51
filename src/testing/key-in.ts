import type { TaskStore } from '../ports/store/tasks.ts'

/** The tenant and the id of a task, for tests that know only its id. The tenant is empty if there is no such task. */
export async function keyIn(
  store: Pick<TaskStore, 'tenantOf'>,
  taskId: string,
): Promise<readonly [tenant: string, id: string]> {
  return [(await store.tenantOf(taskId)) ?? '', taskId]
}
