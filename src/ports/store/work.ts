/** A task whose owning process is gone. */
export interface Orphan {
  readonly taskId: string
  readonly tenant: string
  readonly owner: string
}

/** A task that waits for a slot, or is due. */
export interface ReadyTask {
  readonly taskId: string
  readonly tenant: string
}

/**
 * Lists tasks that are ready, due, orphaned or waiting. In a shared store, the first three methods
 * reserve what they return (`cluster.ts`).
 */
export interface WorkStore {
  /**
   * Tasks of the agent that are ready to run and have no owner. Tenants take turns, in the order of
   * their names; within a tenant, the task that has waited longest comes first. Each call continues
   * with the tenant after the last one of the previous call. Tasks of the tenants in `except` and
   * tasks with ids in `skip` are left out. If the call returns a task, there may be more.
   */
  ready(
    agent: string,
    limit: number,
    except?: readonly string[],
    skip?: readonly string[],
  ): Promise<readonly ReadyTask[]>
  /** Agents that have ready tasks. */
  readyAgents(): Promise<readonly string[]>
  /**
   * Tasks whose owner is any worker other than `alive`, the id of this process: in an embedded
   * store no other process can be alive. With `agents`, only tasks of these agents; embedded stores
   * ignore it.
   */
  orphans(alive: string, limit: number, agents?: readonly string[]): Promise<readonly Orphan[]>
  /** Tasks due at or before `now`, earliest first. */
  due(now: number, limit: number): Promise<readonly ReadyTask[]>
  nextDueAt(): Promise<number | undefined>
  /** Tasks of the tenant that wait for one of the names, ordered by id, after the cursor `after`. */
  waiting(
    tenant: string,
    names: readonly string[],
    after: string,
    limit: number,
  ): Promise<readonly string[]>
  /**
   * The names with this prefix that tasks of the tenant wait for, without duplicates, in order,
   * after the cursor `after`.
   */
  waitNames(
    tenant: string,
    prefix: string,
    after: string,
    limit: number,
  ): Promise<readonly string[]>
  /**
   * For each name that tasks of the tenant wait for, the principal of the one with the smallest id.
   * Not ordered.
   */
  waitOwners(tenant: string, names: readonly string[]): Promise<readonly string[]>
}
