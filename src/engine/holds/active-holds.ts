/** The holds in effect in this process, and which of them a new task is created under. */
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
  /** In a shared store: reads the holds that are in effect now. Does nothing otherwise. */
  refresh(): Promise<void>
  /** In a shared store: the epoch of the holds that were read last. */
  readonly epoch: () => number
  /** The store may have lost holds, and gives their epochs again. The next task is created after another read. */
  forgetEpoch(): void
  /** Until `work` ends, every new task in the scope of the hold is created under it (H3). */
  whileApplying<T>(hold: Hold, work: () => Promise<T>): Promise<T>
  /** The holds a new task is created under. */
  readonly forNew: (task: HoldableTask) => readonly HoldMark[]
}

const noHolds: readonly HoldMark[] = []

/** No epoch of a store. */
const NONE = -1

/** @param read reads the holds of a shared store, which other processes change too */
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
    // A read that began later has answered. The epochs are not compared: after a failover the store may have an older one.
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
      // A read that is under way may be an answer of the former server.
      applied = ++begun
      epoch = NONE
    },
    whileApplying,
    forNew,
  }
}

/** The facts about the hold in the log of a held task. */
export function markOf({ id, reason, actor }: Hold): HoldMark {
  const kind = actor.kind === 'policy' ? 'policy' : 'operator'
  return { holdId: id, reason, actor: { kind, id: actor.id } }
}
