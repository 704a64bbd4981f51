/** Finds tasks that have something to do, among many that have not. */
export interface WorkStore {
  /** Tasks of the agent that could run and that nobody runs, longest waiting first. */
  ready(agent: string, limit: number): Promise<readonly string[]>
  /** Agents that have ready tasks. */
  readyAgents(): Promise<readonly string[]>
  /** Tasks whose run belongs to a worker that is gone. `alive` is this process's worker id. */
  orphans(alive: string, limit: number): Promise<readonly string[]>
  /** Tasks due at or before `now`, earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  nextDueAt(): Promise<number | undefined>
  /** Tasks that wait under one of these names, in this tenant. Ordered by id; `after` continues. */
  waiting(
    tenant: string,
    names: readonly string[],
    after: string,
    limit: number,
  ): Promise<readonly string[]>
  /** The names tasks of the tenant wait under that begin so: each once, in order; `after` continues. */
  waitNames(
    tenant: string,
    prefix: string,
    after: string,
    limit: number,
  ): Promise<readonly string[]>
}
