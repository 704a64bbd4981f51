/** The state of this process, as operators see it. */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { AgentSlots } from './slots.ts'

/** A case of agent code that blocked the event loop for `ms`. */
export interface EventLoopBlock {
  readonly agent: string
  readonly taskId?: string
  readonly ms: number
  readonly at: number
}

export interface Health {
  /**
   * The worker id of this process. On a shared store it changes when the process loses its lease.
   */
  readonly worker: string
  readonly ready: boolean
  readonly draining: boolean
  /** The error while the store's own check fails or commits fail. */
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
 * Finds agent code that blocks the event loop. Code between two operations is timed by
 * `run/releaser.ts`. Code inside a step is noticed because a timer fires late; the report then
 * names all agents with steps in flight.
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
    // Uses elapsed time, so that a sleep of the machine does not look like a block.
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
