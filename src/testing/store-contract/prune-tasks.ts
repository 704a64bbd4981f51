import type { Store } from '../../ports/store.ts'

/**
 * Calls `pruneTasks` with `limit` until it has looked at every task. Returns the number of removed
 * tasks.
 */
export async function pruneTasks(store: Store, statusBefore: number, limit = 99): Promise<number> {
  let total = 0
  let after: string | undefined
  do {
    const step = await store.pruneTasks(statusBefore, 5_000, limit, after)
    total += step.removed
    after = step.after
  } while (after !== undefined)
  return total
}
