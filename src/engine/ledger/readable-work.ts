/**
 * The store's lists of ready and due tasks, without unreadable tasks. The rows of unreadable tasks
 * never change, so the store lists them every time, and they could fill a short list, such as the
 * list of one for an agent with concurrency 1.
 */
import type { WorkStore } from '../../ports/store/work.ts'

export type ReadableWork = Pick<
  WorkStore,
  'ready' | 'readyAgents' | 'orphans' | 'due' | 'nextDueAt'
>

export function readableWork(store: ReadableWork, unreadable: ReadonlySet<string>): ReadableWork {
  /** Reads a list, asking for as many more entries as may have to be left out. */
  async function readable<T>(
    limit: number,
    list: (limit: number) => Promise<readonly T[]>,
    idOf: (one: T) => string,
  ): Promise<readonly T[]> {
    if (unreadable.size === 0) return list(limit)
    const listed = await list(limit + unreadable.size)
    return listed.filter((one) => !unreadable.has(idOf(one))).slice(0, limit)
  }
  const itself = (taskId: string): string => taskId

  return {
    ready: (agent, limit, except, skip = []) =>
      store.ready(agent, limit, except, [...skip, ...unreadable]),
    readyAgents: () => store.readyAgents(),
    orphans: (alive, limit, agents) =>
      readable(
        limit,
        (more) => store.orphans(alive, more, agents),
        ({ taskId }) => taskId,
      ),
    due: (now, limit) => readable(limit, (more) => store.due(now, more), itself),
    nextDueAt: () => store.nextDueAt(),
  }
}
