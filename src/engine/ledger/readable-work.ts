/**
 * The store's lists of ready and due tasks, without unreadable tasks. The rows of unreadable tasks
 * never change, so the store lists them every time, and they could fill a short list, such as the
 * list of one for an agent with concurrency 1.
 */
import type { ReadyTask, WorkStore } from '../../ports/store/work.ts'
import type { TaskPlaces } from './task-places.ts'

export type ReadableWork = Pick<
  WorkStore,
  'ready' | 'readyAgents' | 'orphans' | 'due' | 'nextDueAt'
>

export function readableWork(
  store: ReadableWork,
  unreadable: ReadonlySet<string>,
  places: Pick<TaskPlaces, 'learn'>,
): ReadableWork {
  /** Reads a list, asking for as many more entries as may have to be left out. */
  async function readable<T extends ReadyTask>(
    limit: number,
    list: (limit: number) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const listed = await list(limit + unreadable.size)
    const found = listed.filter(({ taskId }) => !unreadable.has(taskId)).slice(0, limit)
    return placed(found)
  }

  function placed<T extends ReadyTask>(tasks: readonly T[]): readonly T[] {
    for (const { taskId, tenant } of tasks) places.learn(taskId, tenant)
    return tasks
  }

  return {
    ready: async (agent, limit, except, skip = []) =>
      placed(await store.ready(agent, limit, except, [...skip, ...unreadable])),
    readyAgents: () => store.readyAgents(),
    orphans: (alive, limit, agents) =>
      readable(limit, (more) => store.orphans(alive, more, agents)),
    due: (now, limit) => readable(limit, (more) => store.due(now, more)),
    nextDueAt: () => store.nextDueAt(),
  }
}
