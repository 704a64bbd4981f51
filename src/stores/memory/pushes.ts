import { type Push, pushStatus } from '../../core/push.ts'
import type { Store } from '../../ports/store.ts'

export interface Pushes {
  put(push: Push): void
  replace(before: Push, after: Push): boolean
  of(taskId: string): readonly Push[]
  delete(taskId: string, id: string): void
  list(...query: Parameters<Store['listPushes']>): readonly Push[]
  /** Whether the task has a webhook that is not delivered. */
  hasUndelivered(taskId: string): boolean
  /** Deletes all webhooks of a task. */
  drop(taskId: string): void
}

export function createPushes(): Pushes {
  const byTask = new Map<string, Map<string, string>>()

  const of = (taskId: string): readonly Push[] =>
    [...(byTask.get(taskId)?.values() ?? [])]
      .map((text) => JSON.parse(text) as Push)
      .sort((a, b) => order(a.id, b.id))

  function put(push: Push): void {
    const known = byTask.get(push.taskId) ?? new Map<string, string>()
    byTask.set(push.taskId, known.set(push.id, JSON.stringify(push)))
  }

  return {
    put,
    replace(before, after) {
      const stored = byTask.get(after.taskId)?.get(after.id)
      if (stored !== JSON.stringify(before)) return false
      put(after)
      return true
    },
    of,
    delete(taskId, id) {
      byTask.get(taskId)?.delete(id)
    },
    list: (status, after, limit) =>
      [...byTask.keys()]
        .sort(order)
        .flatMap(of)
        .filter((push) => pushStatus(push) === status && isAfter(after, push))
        .slice(0, limit),
    hasUndelivered: (taskId) => of(taskId).some((push) => pushStatus(push) !== 'done'),
    drop(taskId) {
      byTask.delete(taskId)
    },
  }
}

type PushKey = Pick<Push, 'taskId' | 'id'>

function isAfter(after: PushKey | undefined, push: PushKey): boolean {
  if (after === undefined) return true
  return (order(push.taskId, after.taskId) || order(push.id, after.id)) > 0
}

function order(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}
