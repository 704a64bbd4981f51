/** A task whose owner is gone. */
export interface Orphan {
  readonly taskId: string
  readonly owner: string
}

/** A task that waits for a slot. */
export interface ReadyTask {
  readonly taskId: string
  readonly tenant: string
}

/**
 * Finds tasks that are ready, due, orphaned or waiting. In a shared store, the first three reserve their results
 * (`cluster.ts`).
 */
export interface WorkStore {
  /**
   * Tasks of the agent that are ready to run and have no owner: of each tenant one in turn, of one tenant the longest
   * waiting first. Tenants are in the order of their names. A call continues with the tenant behind the last one of the
   * call before. Tasks of the tenants in `except` are left out, and the tasks with the ids in `skip`. If any task is
   * returned, there may be more.
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
   * Tasks whose owner is another worker than `alive`, the worker id of this process. No other process can live. With
   * `agents`, only tasks of these; embedded stores ignore it.
   */
  orphans(alive: string, limit: number, agents?: readonly string[]): Promise<readonly Orphan[]>
  /** Tasks due at or before `now`, earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  nextDueAt(): Promise<number | undefined>
  /** Tasks of the tenant that wait for one of the names, ordered by id, after the cursor `after`. */
  waiting(
    tenant: string,
    names: readonly string[],
    after: string,
    limit: number,
  ): Promise<readonly string[]>
  /** The names with this prefix that tasks of the tenant wait for: each once, in order, after the cursor `after`. */
  waitNames(
    tenant: string,
    prefix: string,
    after: string,
    limit: number,
  ): Promise<readonly string[]>
  /**
   * For each name that a task of the tenant waits for, the principal of the task with the smallest id among them. In no
   * order.
   */
  waitOwners(tenant: string, names: readonly string[]): Promise<readonly string[]>
}
