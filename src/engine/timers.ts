/**
 * Deadlines, schedules, instants and expiring questions. They live in the store; one timer points at the earliest. What
 * fell due while no process ran fires at start.
 */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { WorkStore } from '../ports/store/work.ts'

export interface Timers {
  /** Something falls due then. */
  at(instant: number): void
  start(): Promise<void>
  stop(): void
}

/** Fired together: they share flushes, and nobody waits long behind them. */
const BATCH = 128
/** While one is written, the next is read and decided. */
const ROUNDS = 3
/** Timers of a runtime overflow at about 24 days, and clocks are set: look again at least this often. */
const LONGEST_MS = 3_600_000
const RETRY_MS = 1_000

export function createTimers(deps: {
  readonly store: WorkStore
  readonly clock: Clock
  readonly log: Log
  /** False: there was nothing to do, or it could not be done. */
  readonly fire: (taskId: string) => Promise<boolean>
}): Timers {
  const { store, clock, log, fire } = deps
  let armedFor = Number.POSITIVE_INFINITY
  let cancel: (() => void) | undefined
  let firing = false
  let stopped = true

  function at(instant: number): void {
    if (stopped || instant >= armedFor) return
    arm(instant)
  }

  function arm(instant: number): void {
    cancel?.()
    armedFor = instant
    cancel = clock.after(Math.max(0, Math.min(instant - clock.now(), LONGEST_MS)), () => {
      cancel = undefined
      armedFor = Number.POSITIVE_INFINITY
      sweep().catch((error: unknown) => {
        log('error', 'due tasks could not be read; trying again', { error })
        at(clock.now() + RETRY_MS)
      })
    })
  }

  async function sweep(): Promise<void> {
    if (firing || stopped) return
    firing = true
    try {
      await fireAll()
      const next = await store.nextDueAt()
      if (next !== undefined) at(Math.max(next, clock.now() + (next <= clock.now() ? RETRY_MS : 0)))
    } finally {
      firing = false
    }
  }

  async function fireAll(): Promise<void> {
    /** Under way, and what could not be settled: that is left for the next sweep. */
    const taken = new Set<string>()
    const rounds = new Set<Promise<void>>()
    while (!stopped) {
      const due = await store.due(clock.now(), BATCH + taken.size)
      const batch = due.filter((taskId) => !taken.has(taskId)).slice(0, BATCH)
      if (batch.length === 0 && rounds.size === 0) return
      if (batch.length > 0) {
        const round: Promise<void> = fireRound(batch, taken).finally(() => rounds.delete(round))
        rounds.add(round)
      }
      if (batch.length < BATCH || rounds.size >= ROUNDS) await Promise.race(rounds)
    }
    await Promise.all(rounds)
  }

  async function fireRound(batch: readonly string[], taken: Set<string>): Promise<void> {
    for (const taskId of batch) taken.add(taskId)
    await Promise.all(
      batch.map(async (taskId) => {
        if (await attempt(taskId)) taken.delete(taskId)
      }),
    )
  }

  async function attempt(taskId: string): Promise<boolean> {
    try {
      return await fire(taskId)
    } catch (error) {
      log('error', 'a due task could not be woken; trying again', { taskId, error })
      return false
    }
  }

  return {
    at,
    async start() {
      stopped = false
      await sweep()
    },
    stop() {
      stopped = true
      cancel?.()
      cancel = undefined
      armedFor = Number.POSITIVE_INFINITY
    },
  }
}
