/**
 * The work lists of the store without unreadable tasks. The rows of these tasks do not change, so the store lists them
 * again and again. They could fill a short list, such as the list of one for an agent with concurrency 1.
 */
import type { WorkStore } from '../../ports/store/work.ts'

export type ReadableWork = Pick<
  WorkStore,
  'ready' | 'readyAgents' | 'orphans' | 'due' | 'nextDueAt'
>

export function readableWork(store: ReadableWork, unreadable: ReadonlySet<string>): ReadableWork {
  /** Asks for as many more tasks as may have to be left out. */
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
