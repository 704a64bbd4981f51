/** Asks the store for the versions of tasks. Calls of one event-loop turn share a query. */
import type { ClusterStore } from '../../ports/store/cluster.ts'

/** Resolves with 0 for a task that does not exist. */
export type VersionOf = (taskId: string) => Promise<number>

interface Question {
  readonly taskIds: string[]
  readonly answer: Promise<readonly number[]>
}

export function createVersionCheck(cluster: Pick<ClusterStore, 'versions'>): VersionOf {
  let open: Question | undefined

  function ask(): Question {
    const taskIds: string[] = []
    const answer = new Promise((resolve) => setImmediate(resolve)).then(() => {
      open = undefined
      return cluster.versions(taskIds)
    })
    return { taskIds, answer }
  }

  return async (taskId) => {
    open ??= ask()
    const { taskIds, answer } = open
    const index = taskIds.push(taskId) - 1
    return (await answer)[index] ?? 0
  }
}
