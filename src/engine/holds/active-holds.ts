/** The holds in effect, as this process knows them, and which of them cover a new task. */
import type { HoldMark } from '../../core/commands.ts'
import type { HoldsInEffect } from '../../ports/store/cluster.ts'
import type { Hold } from '../../ports/store/holds.ts'
import { type HoldableTask, isCovered } from './hold-scope.ts'

export interface ActiveHolds {
  readonly has: (holdId: string) => boolean
  readonly get: (holdId: string) => Hold | undefined
  readonly all: () => readonly Hold[]
  add(hold: Hold): void
  remove(holdId: string): void
  /** Reads the holds in effect. Does nothing unless the store is shared. */
  refresh(): Promise<void>
  /** The epoch of the holds that were read last. Only in a shared store. */
  readonly epoch: () => number
  /**
   * Called when the store may have lost holds, and so may use their epochs again. The next task is
   * created only after another read.
   */
  forgetEpoch(): void
  /** Until `work` ends, every new task in the scope is created under the hold (H3). */
  whileApplying<T>(hold: Hold, work: () => Promise<T>): Promise<T>
  /** The holds that cover a new task. */
  readonly forNew: (task: HoldableTask) => readonly HoldMark[]
}

const noHolds: readonly HoldMark[] = []

/** A number that is never an epoch of a store. */
const NONE = -1

/**
 * @param read reads the holds of a shared store, which other processes change too; absent for an
 * embedded store
 */
export function createActiveHolds(read?: () => Promise<HoldsInEffect>): ActiveHolds {
  const active = new Map<string, Hold>()
  let epoch = 0
  let begun = 0
  let applied = 0
  /** For each hold that is being applied, how many calls apply it. */
  const applying = new Map<string, number>()

  async function whileApplying<T>({ id }: Hold, work: () => Promise<T>): Promise<T> {
    applying.set(id, (applying.get(id) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const calls = (applying.get(id) ?? 1) - 1
      if (calls === 0) applying.delete(id)
      else applying.set(id, calls)
    }
  }

  async function refresh(): Promise<void> {
    const mine = ++begun
    const now = await read?.()
    // Ignore this answer: a read that began later has already been applied. Epochs cannot be
    // compared, because after a failover the store may have an older one.
    if (now === undefined || mine < applied) return
    applied = mine
    epoch = now.epoch
    active.clear()
    for (const hold of now.holds) active.set(hold.id, hold)
  }

  function forNew(task: HoldableTask): readonly HoldMark[] {
    if (active.size === 0) return noHolds
    return [...active.values()]
      .filter(({ id, holdNew }) => holdNew || applying.has(id))
      .filter(({ scope }) => isCovered(scope, task))
      .map(markOf)
  }

  return {
    has: (holdId) => active.has(holdId),
    get: (holdId) => active.get(holdId),
    all: () => [...active.values()],
    add: (hold) => {
      active.set(hold.id, hold)
    },
    remove: (holdId) => {
      active.delete(holdId)
    },
    refresh,
    epoch: () => epoch,
    forgetEpoch() {
      // A read under way may still be answered by the former database server, so its result is
      // ignored.
      applied = ++begun
      epoch = NONE
    },
    whileApplying,
    forNew,
  }
}

/** What the log of a held task says about the hold. */
export function markOf({ id, reason, actor }: Hold): HoldMark {
  const kind = actor.kind === 'policy' ? 'policy' : 'operator'
  return { holdId: id, reason, actor: { kind, id: actor.id } }
}
