/**
 * Counts the open webhooks of each principal and each tenant that this process has listed, added or
 * written. If another process finishes or deletes one of them, it is counted until this process
 * reads the webhooks of the task, or lists all of them.
 */
import { type Push, type PushOwner, pushStatus } from '../../../core/push.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { PushStore } from './delivery-deps.ts'

export interface OpenCounts {
  /** The same store, with every read and write counted. */
  readonly store: PushStore
  readonly of: (owner: PushOwner) => { readonly principal: number; readonly tenant: number }
  /** Whether the task has an open webhook. */
  readonly isOpen: (taskId: string) => boolean
  /** Counts the webhook if it is open. */
  readonly see: (push: Push) => void
  /** Counts one more webhook of the owner while `add` runs. */
  reserved<T>(owner: PushOwner, add: () => Promise<T>): Promise<T>
  /**
   * Lists the open webhooks. Afterwards only those that were found, or added meanwhile, are
   * counted.
   */
  listOpen(): AsyncGenerator<Push, void>
  /** Counts the stored webhooks anew, unless that was done a moment ago. */
  recount(): Promise<void>
}

interface Counted {
  /** The keys under which it is counted: of its principal and of its tenant. */
  readonly keys: readonly string[]
  /** The number of the newest listing that has seen it. */
  listing: number
}

const PAGE = 500
const RECOUNT_MS = 10_000

export function countOpen(
  store: PushStore,
  clock: Pick<EngineDeps['clock'], 'elapsed'>,
): OpenCounts {
  /** Open webhooks by task, then by id. */
  const open = new Map<string, Map<string, Counted>>()
  const counts = new Map<string, number>()
  let listings = 0
  let recounted: { readonly at: number; readonly done: Promise<void> } | undefined

  function change(keys: readonly string[], by: 1 | -1): void {
    for (const key of keys) {
      const now = (counts.get(key) ?? 0) + by
      if (now === 0) counts.delete(key)
      else counts.set(key, now)
    }
  }

  /** @param only closes the webhook only if it was not closed and opened again since `only` was counted */
  function close(taskId: string, id: string, only?: Counted): void {
    const ofTask = open.get(taskId)
    const counted = ofTask?.get(id)
    if (counted === undefined || (only !== undefined && counted !== only)) return
    change(counted.keys, -1)
    ofTask?.delete(id)
    if (ofTask?.size === 0) open.delete(taskId)
  }

  function see(push: Push): void {
    const { taskId, id, owner } = push
    const ofTask = open.get(taskId) ?? new Map<string, Counted>()
    const known = ofTask.get(id)
    if (pushStatus(push) !== 'open') close(taskId, id)
    else if (known !== undefined) known.listing = listings
    else {
      const keys = keysOf(owner)
      open.set(taskId, ofTask.set(id, { keys, listing: listings }))
      change(keys, 1)
    }
  }

  async function* listOpen(): AsyncGenerator<Push, void> {
    const listing = ++listings
    let after: Push | undefined
    do {
      const page = await store.listPushes('open', after, PAGE)
      page.forEach(see)
      yield* page
      after = page.at(-1)
    } while (after !== undefined)
    for (const [taskId, ofTask] of open) {
      for (const [id, counted] of ofTask) if (counted.listing < listing) close(taskId, id)
    }
  }

  async function listAll(): Promise<void> {
    try {
      for await (const _ of listOpen());
    } catch (error) {
      recounted = undefined
      throw error
    }
  }

  return {
    store: {
      ...store,
      async putPush(push) {
        await store.putPush(push)
        see(push)
      },
      async replacePush(before, after) {
        const written = await store.replacePush(before, after)
        if (written) see(after)
        return written
      },
      async pushes(tenant, taskId) {
        const known = new Map(open.get(taskId))
        const found = await store.pushes(tenant, taskId)
        const stillOpen = found.filter((push) => pushStatus(push) === 'open')
        for (const [id, counted] of known) {
          if (!stillOpen.some((push) => push.id === id)) close(taskId, id, counted)
        }
        return found
      },
      async deletePush(tenant, taskId, id) {
        await store.deletePush(tenant, taskId, id)
        close(taskId, id)
      },
    },
    of(owner) {
      const [principal = 0, tenant = 0] = keysOf(owner).map((key) => counts.get(key) ?? 0)
      return { principal, tenant }
    },
    isOpen: (taskId) => open.has(taskId),
    see,
    async reserved(owner, add) {
      const keys = keysOf(owner)
      change(keys, 1)
      try {
        return await add()
      } finally {
        change(keys, -1)
      }
    },
    listOpen,
    recount() {
      const now = clock.elapsed()
      if (recounted === undefined || now - recounted.at >= RECOUNT_MS) {
        recounted = { at: now, done: listAll() }
      }
      return recounted.done
    },
  }
}

const keysOf = ({ tenant, principal }: PushOwner): readonly string[] => [
  JSON.stringify([tenant, principal]),
  JSON.stringify([tenant]),
]
