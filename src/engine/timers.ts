/**
 * Deadlines, schedules, instants and expiring questions. They are in the store; one timer points at the earliest.
 *
 *   waiting ──timer──▶ sweeping ──timer──▶ sweeping again ──▶ … ──nothing due──▶ waiting
 *
 * T1  What fell due while no process ran fires at start.
 * T2  A timer that fires during a sweep causes another one: the sweep may have read the store before the task was in it.
 * T3  A task that could not be woken is tried again.
 */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { WorkStore } from '../ports/store/work.ts'
import type { WakeByTime } from './wake-by-time.ts'

export interface Timers {
  /** Something falls due then. */
  at(instant: number): void
  start(): Promise<void>
  stop(): void
}

type Phase = 'stopped' | 'waiting' | 'sweeping' | 'sweeping again'

const afterTimer: Readonly<Record<Phase, Phase>> = {
  stopped: 'stopped',
  waiting: 'sweeping',
  sweeping: 'sweeping again',
  'sweeping again': 'sweeping again',
}

/** Woken together: their writes share commits, and other tasks do not wait long behind them. */
const BATCH = 128
/** While one batch is written, the next ones are read and decided. */
const CONCURRENT_BATCHES = 3
const RETRY_MS = 1_000
const NEVER = Number.POSITIVE_INFINITY

export function createTimers(deps: {
  readonly store: Pick<WorkStore, 'due' | 'nextDueAt'>
  readonly clock: Clock
  readonly log: Log
  readonly wake: WakeByTime
}): Timers {
  const { store, clock, log, wake } = deps
  let phase: Phase = 'stopped'
  let armedFor = NEVER
  let cancel: (() => void) | undefined

  function at(instant: number): void {
    if (phase === 'stopped' || instant >= armedFor) return
    cancel?.()
    armedFor = instant
    cancel = clock.at(instant, onTimer)
  }

  function onTimer(): void {
    disarm()
    const before = phase
    phase = afterTimer[before]
    if (before === 'waiting') sweep().catch(() => undefined)
  }

  function disarm(): void {
    cancel?.()
    cancel = undefined
    armedFor = NEVER
  }

  /** The phase is `sweeping` when this is called. */
  async function sweep(): Promise<void> {
    try {
      for (;;) {
        const wokenUntil = await wakeAll()
        const next = await store.nextDueAt()
        if (next !== undefined) at(next > wokenUntil ? next : clock.now() + RETRY_MS)
        if (!isAskedAgain()) return
        phase = 'sweeping'
      }
    } catch (error) {
      log('error', 'due tasks could not be read; trying again', { error })
      at(clock.now() + RETRY_MS)
    } finally {
      if (!isStopped()) phase = 'waiting'
    }
  }

  // Functions, because `phase` changes while a sweep awaits and the compiler assumes that it does not.
  const isStopped = (): boolean => phase === 'stopped'
  const isAskedAgain = (): boolean => phase === 'sweeping again'

  /** Everything that is due. Returns the instant up to which that was. */
  async function wakeAll(): Promise<number> {
    let now = clock.now()
    /** In flight, or not woken in this sweep. */
    const taken = new Set<string>()
    const batches = new Set<Promise<void>>()
    while (!isStopped()) {
      now = clock.now()
      const due = await store.due(now, BATCH + taken.size)
      const batch = due.filter((taskId) => !taken.has(taskId)).slice(0, BATCH)
      if (batch.length === 0 && batches.size === 0) return now
      if (batch.length > 0) {
        const waking: Promise<void> = wakeBatch(batch, taken).finally(() => batches.delete(waking))
        batches.add(waking)
      }
      if (batch.length < BATCH || batches.size >= CONCURRENT_BATCHES) await Promise.race(batches)
    }
    await Promise.all(batches)
    return now
  }

  async function wakeBatch(batch: readonly string[], taken: Set<string>): Promise<void> {
    for (const taskId of batch) taken.add(taskId)
    await Promise.all(
      batch.map(async (taskId) => {
        if (await isWoken(taskId)) taken.delete(taskId)
      }),
    )
  }

  /** False: there was nothing to do, or it could not be done. */
  async function isWoken(taskId: string): Promise<boolean> {
    try {
      return await wake(taskId)
    } catch (error) {
      log('error', 'a due task could not be woken; trying again', { taskId, error })
      return false
    }
  }

  return {
    at,
    async start() {
      phase = 'sweeping'
      await sweep()
    },
    stop() {
      phase = 'stopped'
      disarm()
    },
  }
}
