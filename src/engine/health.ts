/** What an operator needs to know about this process. */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'

/** A time agent code blocked the event loop. */
export interface EventLoopBlock {
  readonly agent: string
  readonly taskId?: string
  readonly ms: number
  readonly at: number
}

export interface Health {
  readonly ready: boolean
  readonly draining: boolean
  /** An error while the store's check fails, and while commits fail though the check works. */
  readonly store: 'ok' | { readonly error: string }
  readonly runs: { readonly live: number; readonly warm: number; readonly busy: number }
  readonly subscribers: number
  /** The latest times an agent blocked the event loop, newest last. */
  readonly blocked: readonly EventLoopBlock[]
  /** Tasks this process found that cannot be read. The log names each. */
  readonly unreadable: number
}

export interface Watchdog {
  report(agent: string, taskId: string, ms: number): void
  readonly blocked: () => readonly EventLoopBlock[]
  start(): void
  stop(): void
}

const KEPT = 20
const TICK_MS = 100

/**
 * Finds agent code that blocks the event loop. Most blocking is measured where it happens, inside `run/`. Blocking later in
 * a step shows only as a late tick; the agents with steps in flight are named then.
 */
export function createWatchdog(
  clock: Clock,
  log: Log,
  blockMs: number,
  suspects: () => readonly string[],
): Watchdog {
  let blocked: readonly EventLoopBlock[] = []
  let reportedAt = 0
  let cancel: (() => void) | undefined

  function note(blockage: EventLoopBlock): void {
    reportedAt = blockage.at
    blocked = [...blocked, blockage].slice(-KEPT)
    log('warn', 'an agent blocked the event loop: move the work into a worker or yield', {
      ...blockage,
    })
  }

  function tick(): void {
    const due = clock.now() + TICK_MS
    cancel = clock.after(TICK_MS, () => {
      const late = clock.now() - due
      if (late >= blockMs && reportedAt < due) {
        const agents = suspects()
        if (agents.length > 0) note({ agent: agents.join(', '), ms: late, at: clock.now() })
      }
      tick()
    })
  }

  return {
    report: (agent, taskId, ms) => note({ agent, taskId, ms, at: clock.now() }),
    blocked: () => blocked,
    start: tick,
    stop: () => cancel?.(),
  }
}
