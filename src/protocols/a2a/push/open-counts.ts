/**
 * Counts the open webhooks of each principal and each tenant that this process has listed, added or
 * written. If another process finishes or deletes one of them, it is counted until this process
 * reads the webhooks of the task, or lists all of them.
 */
import { type Push, pushStatus } from '../../../core/push.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { createOpenTally, type OpenTally } from './open-tally.ts'
import type { PushStore } from './push-store.ts'

export interface OpenCounts extends Pick<OpenTally, 'of' | 'isOpen' | 'see' | 'reserved'> {
  /** The same store, with every read and write counted. */
  readonly store: PushStore
  /**
   * Lists the open webhooks. Afterwards only those that were found, or added meanwhile, are
   * counted.
   */
  listOpen(): AsyncGenerator<Push, void>
  /** Counts the stored webhooks anew, unless that was done a moment ago. */
  recount(): Promise<void>
}

const PAGE = 500
const RECOUNT_MS = 10_000

export function countOpen(
  store: PushStore,
  clock: Pick<EngineDeps['clock'], 'elapsed'>,
): OpenCounts {
  const { of, isOpen, openOf, see, close, beginListing, reserved } = createOpenTally()
  let recounted: { readonly at: number; readonly done: Promise<void> } | undefined

  async function* listOpen(): AsyncGenerator<Push, void> {
    const end = beginListing()
    let after: Push | undefined
    do {
      const page = await store.listPushes('open', after, PAGE)
      page.forEach(see)
      yield* page
      after = page.at(-1)
    } while (after !== undefined)
    end()
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
      async pushes(taskId) {
        const known = openOf(taskId)
        const found = await store.pushes(taskId)
        const open = found.filter((push) => pushStatus(push) === 'open')
        for (const [id, counted] of known) {
          if (!open.some((push) => push.id === id)) close(taskId, id, counted)
        }
        return found
      },
      async deletePush(taskId, id) {
        await store.deletePush(taskId, id)
        close(taskId, id)
      },
    },
    of,
    isOpen,
    see,
    reserved,
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
