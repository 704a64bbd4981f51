/** Finds the end of a child for a parent whose run was evicted from memory. */
import { isTerminal } from '../../core/states.ts'
import type { Log } from '../../ports/log.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { readableChildren } from '../requests/child-of.ts'
import type { Subscriptions } from '../streams/subscriptions.ts'

export interface ChildEndsDeps {
  readonly ledger: Pick<Ledger, 'read'>
  readonly log: Log
  /** Present in a shared store, where a child may run in another process. */
  readonly watchTask?: Subscriptions['watch'] | undefined
}

/**
 * Calls `ended` with the parent's id when the child has ended. An unreadable child counts as ended.
 * A child that does not exist here has not been imported yet; its end will be published like that
 * of any other.
 */
export type ChildEnds = (parentId: string, childId: string) => void

export function createChildEnds(
  { ledger, log, watchTask }: ChildEndsDeps,
  ended: (parentId: string) => void,
): ChildEnds {
  /** Watches a child, because its end in another process is reported only to watchers. */
  function watchEnd(parentId: string, childId: string): void {
    const stop = watchTask?.(childId, ({ state }) => {
      if (!isTerminal(state)) return
      stop?.()
      ended(parentId)
    })
  }

  async function isOver(parentId: string, childId: string): Promise<boolean> {
    const [parent, child] = [await ledger.read(parentId), await ledger.read(childId)]
    if (parent === undefined || child === undefined) return false
    const isReadable = await readableChildren({ ledger }, parent)
    return isReadable(child) && (isTerminal(child.state) || isUnreadable(child))
  }

  return (parentId, childId) => {
    watchEnd(parentId, childId)
    // The child may have ended before the parent was evicted.
    isOver(parentId, childId).then(
      (over) => {
        if (over) ended(parentId)
      },
      (error: unknown) => {
        const facts = { taskId: parentId, error }
        log('warn', 'a child could not be read; its parent is built again', facts)
        ended(parentId)
      },
    )
  }
}
