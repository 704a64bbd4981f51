/** Asks the store for the versions of tasks. Calls of one event-loop turn share a query. */
import type { ClusterStore } from '../../ports/store/cluster.ts'
import type { TaskKey } from '../../ports/store/tasks.ts'
import type { TaskPlaces } from '../ledger/task-places.ts'

/**
 * Resolves with 0 for a task that does not exist.
 * @param tenant the tenant that the caller believes the task to have
 */
export type VersionOf = (taskId: string, tenant?: string) => Promise<number>

interface Question {
  readonly keys: TaskKey[]
  readonly answer: Promise<readonly number[]>
}

export function createVersionCheck(
  cluster: Pick<ClusterStore, 'versions'>,
  places: TaskPlaces,
): VersionOf {
  let open: Question | undefined

  function ask(): Question {
    const keys: TaskKey[] = []
    const answer = new Promise((resolve) => setImmediate(resolve)).then(() => {
      open = undefined
      return cluster.versions(keys)
    })
    return { keys, answer }
  }

  return async (taskId, tenant) => {
    const key = await places.keyOf(taskId, tenant)
    if (key === undefined) return 0
    open ??= ask()
    const { keys, answer } = open
    const index = keys.push(key) - 1
    const version = (await answer)[index] ?? 0
    if (version > 0) places.learn(taskId, key.tenant)
    return version
  }
}
