/** The state of this process, for operators. */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { AgentSlots } from './slots.ts'

/** Agent code blocked the event loop for `ms`. */
export interface EventLoopBlock {
  readonly agent: string
  readonly taskId?: string
  readonly ms: number
  readonly at: number
}

export interface Health {
  /** The id of this process. On a shared store it changes when the process loses its lease. */
  readonly worker: string
  readonly ready: boolean
  readonly draining: boolean
  /** An error while the store's check fails or commits fail. */
  readonly store: 'ok' | { readonly error: string }
  readonly runs: { readonly live: number; readonly warm: number; readonly busy: number }
  /** The slots of each agent that has run a task here. */
  readonly slots: readonly AgentSlots[]
  /** How many commands wait for the store. */
  readonly waitingCommands: number
  readonly subscribers: number
  /** The latest cases of agent code that blocked the event loop, newest last. */
  readonly blocked: readonly EventLoopBlock[]
  /** How many unreadable tasks this process has found. The log names each of them. */
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
 * Finds agent code that blocks the event loop. Code between two operations is timed by `run/releaser.ts`. Code inside a
 * step is noticed by a late tick. The report then names the agents with steps in flight.
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

  function note(who: Pick<EventLoopBlock, 'agent' | 'taskId'>, ms: number): void {
    const blockage: EventLoopBlock = { ...who, ms: Math.round(ms), at: clock.now() }
    reportedAt = clock.elapsed()
    blocked = [...blocked, blockage].slice(-KEPT)
    log('warn', 'an agent blocked the event loop: move the work into a worker or yield', {
      ...blockage,
    })
  }

  function tick(): void {
    // A machine that slept blocked nothing.
    const due = clock.elapsed() + TICK_MS
    cancel = clock.after(TICK_MS, () => {
      const late = clock.elapsed() - due
      if (late >= blockMs && reportedAt < due) {
        const agents = suspects()
        if (agents.length > 0) note({ agent: agents.join(', ') }, late)
      }
      tick()
    })
  }

  return {
    report: (agent, taskId, ms) => note({ agent, taskId }, ms),
    blocked: () => blocked,
    start() {
      if (blockMs < Number.POSITIVE_INFINITY) tick()
    },
    stop: () => cancel?.(),
  }
}
