/** Removes what is older than its age, in small batches so that nobody waits behind them. */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { ClaimStore } from '../ports/store/claims.ts'
import type { EventStore } from '../ports/store/events.ts'
import type { TaskStore } from '../ports/store/tasks.ts'
import type { EngineOptions } from './options.ts'

export interface Pruned {
  readonly tasks: number
  readonly events: number
  readonly claims: number
}

export interface Retention {
  prune(): Promise<Pruned>
  start(): void
  stop(): void
}

const BATCH = 500
const EVERY_MS = 3_600_000

export function createRetention(deps: {
  readonly store: TaskStore & EventStore & ClaimStore
  readonly clock: Clock
  readonly log: Log
  readonly options: EngineOptions
  /** Tasks were removed. */
  readonly removed: () => void
}): Retention {
  const { store, clock, log, options, removed } = deps
  let cancel: (() => void) | undefined
  let stopped = false

  async function all(remove: (limit: number) => Promise<number>): Promise<number> {
    let total = 0
    for (;;) {
      const removed = await remove(BATCH)
      total += removed
      if (removed < BATCH) return total
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function prune(): Promise<Pruned> {
    const now = clock.now()
    const { tasksForMs, eventsForMs, claimsForMs } = options
    const tasks = Number.isFinite(tasksForMs)
      ? await all((limit) => store.pruneTasks(now - tasksForMs, limit))
      : 0
    if (tasks > 0) removed()
    const events = await all((limit) => store.pruneEvents(now - eventsForMs, limit))
    const claims = await all((limit) => store.pruneClaims(now - claimsForMs, limit))
    return { tasks, events, claims }
  }

  function start(): void {
    if (stopped) return
    cancel = clock.after(EVERY_MS, () => {
      prune()
        .catch((error: unknown) =>
          log('warn', 'old data could not be removed; trying again later', { error }),
        )
        .finally(start)
    })
  }

  function stop(): void {
    stopped = true
    cancel?.()
  }

  return { prune, start, stop }
}
