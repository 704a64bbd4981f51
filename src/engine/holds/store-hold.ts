/** Writes a hold, before it stops the first task (H1). */
import type { Hold } from '../../ports/store/holds.ts'
import type { EngineContext } from '../context.ts'
import type { ActiveHolds } from './active-holds.ts'
import { liftTasks } from './held-tasks.ts'

/**
 * Stores the hold. Embedded store: new tasks are created under the hold even before it is durable,
 * so that none is missed. Shared store: the hold is written first, so that no process finds a task
 * under an unknown hold, and creates that were decided earlier are refused.
 * @param epoch the epoch of the holds on which the hold was decided (H5)
 * @returns false when the holds have changed since, and the hold must be decided again
 */
export type StoreHold = (hold: Hold, epoch: number) => Promise<boolean>

export function createStoreHold(context: EngineContext, active: ActiveHolds): StoreHold {
  /** Writes in progress, by hold id. */
  const writes = new Map<string, Promise<void>>()

  async function store(hold: Hold, epoch: number): Promise<boolean> {
    const { cluster } = context.store
    if (cluster !== undefined) {
      if (!active.has(hold.id) && !(await cluster.putHoldAt(hold, epoch))) return false
      await active.refresh()
      return true
    }
    if (!active.has(hold.id)) {
      active.add(hold)
      writes.set(hold.id, context.store.putHold(hold))
    }
    try {
      await writes.get(hold.id)
      return true
    } catch (error) {
      active.remove(hold.id)
      await undo(hold)
      throw error
    } finally {
      writes.delete(hold.id)
    }
  }

  /**
   * Lifts a hold that could not be stored from tasks created under it. Tasks that this misses are
   * lifted at the next start.
   */
  async function undo(hold: Hold): Promise<void> {
    try {
      await context.ledger.createsSettled()
      await liftTasks(context, hold, hold.actor.id)
    } catch (error) {
      const text = 'tasks are held by a hold that could not be stored'
      context.log('error', text, { holdId: hold.id, error })
    }
  }

  return store
}
