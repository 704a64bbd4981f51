import { type Push, pushStatus } from '../../core/push.ts'
import type { PushStore } from '../../ports/store/pushes.ts'
import type { Direct } from '../../ports/store.ts'

export interface Pushes extends Direct<keyof PushStore> {
  /** Whether the task has a webhook that is not delivered. */
  hasUndelivered(taskId: string): boolean
  /** Deletes all webhooks of a task. */
  drop(taskId: string): void
}

export function createPushes(): Pushes {
  const byTask = new Map<string, Map<string, string>>()

  const pushes = (taskId: string): readonly Push[] =>
    [...(byTask.get(taskId)?.values() ?? [])]
      .map((text) => JSON.parse(text) as Push)
      .sort((a, b) => order(a.id, b.id))

  function putPush(push: Push): void {
    const known = byTask.get(push.taskId) ?? new Map<string, string>()
    byTask.set(push.taskId, known.set(push.id, JSON.stringify(push)))
  }

  return {
    putPush,
    replacePush(before, after) {
      const stored = byTask.get(after.taskId)?.get(after.id)
      if (stored !== JSON.stringify(before)) return false
      putPush(after)
      return true
    },
    pushes: (tenant, taskId) => pushes(taskId).filter(({ owner }) => owner.tenant === tenant),
    deletePush(_tenant, taskId, id) {
      byTask.get(taskId)?.delete(id)
    },
    listPushes: (status, after, limit) =>
      [...byTask.keys()]
        .sort(order)
        .flatMap(pushes)
        .filter((push) => pushStatus(push) === status && isAfter(after, push))
        .slice(0, limit),
    hasUndelivered: (taskId) => pushes(taskId).some((push) => pushStatus(push) !== 'done'),
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
