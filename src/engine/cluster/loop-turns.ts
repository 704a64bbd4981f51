/** Reports to the guard of the lease that the event loop turns (C10 of `membership.ts`). */
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/store/cluster.ts'

export interface LoopTurnsDeps {
  readonly cluster: Pick<ClusterStore, 'loopGuard'>
  readonly clock: Pick<Clock, 'after'>
  readonly leaseMs: number
  readonly suspect: () => string | undefined
}

/** The number of reports within one lease. */
const TURNS = 24
const LONGEST_MS = 1_000

export interface LoopTurns {
  start(): void
  /** Called when the process no longer has a lease. */
  stop(): void
}

export function createLoopTurns({ cluster, clock, leaseMs, suspect }: LoopTurnsDeps): LoopTurns {
  const { loopGuard } = cluster
  let cancel: (() => void) | undefined

  function turn(): void {
    loopGuard?.turned(suspect())
    cancel = clock.after(Math.min(LONGEST_MS, leaseMs / TURNS), turn)
  }

  return {
    start() {
      if (loopGuard !== undefined) turn()
    },
    stop() {
      cancel?.()
      loopGuard?.guard(undefined)
    },
  }
}
