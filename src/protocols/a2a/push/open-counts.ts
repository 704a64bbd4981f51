/**
 * Counts the open webhooks of each principal and each tenant, as far as this process knows them: it lists all of them at its
 * start, and sees each that it adds or delivers to. Webhooks of earlier versions have no owner and are not counted.
 */
import { type Push, type PushOwner, pushStatus } from '../../../core/push.ts'
import type { PushStore } from './push-store.ts'

export interface OpenCounts {
  /** The same store. What goes through it is counted. */
  readonly store: PushStore
  readonly of: (owner: PushOwner) => { readonly principal: number; readonly tenant: number }
}

export function countOpen(store: PushStore): OpenCounts {
  /** The keys under which each open webhook is counted. */
  const open = new Map<string, readonly string[]>()
  const counts = new Map<string, number>()

  function change(keys: readonly string[], by: 1 | -1): void {
    for (const key of keys) {
      const now = (counts.get(key) ?? 0) + by
      if (now === 0) counts.delete(key)
      else counts.set(key, now)
    }
  }

  function close(id: string): void {
    change(open.get(id) ?? [], -1)
    open.delete(id)
  }

  function see(push: Push): void {
    const id = idOf(push.taskId, push.id)
    if (pushStatus(push) !== 'open') close(id)
    else if (push.owner !== undefined && !open.has(id)) {
      const keys = keysOf(push.owner)
      open.set(id, keys)
      change(keys, 1)
    }
  }

  return {
    store: {
      ...(store.cluster === undefined ? {} : { cluster: store.cluster }),
      async putPush(push) {
        await store.putPush(push)
        see(push)
      },
      async pushes(taskId) {
        const found = await store.pushes(taskId)
        for (const push of found) see(push)
        return found
      },
      async deletePush(taskId, id) {
        await store.deletePush(taskId, id)
        close(idOf(taskId, id))
      },
      async listPushes(...query) {
        const found = await store.listPushes(...query)
        for (const push of found) see(push)
        return found
      },
    },
    of(owner) {
      const [principal = 0, tenant = 0] = keysOf(owner).map((key) => counts.get(key) ?? 0)
      return { principal, tenant }
    },
  }
}

const idOf = (taskId: string, id: string): string => JSON.stringify([taskId, id])

const keysOf = ({ tenant, principal }: PushOwner): readonly string[] => [
  JSON.stringify([tenant, principal]),
  JSON.stringify([tenant]),
]
