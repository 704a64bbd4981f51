/**
 * Wakes tasks at their deadlines, schedules, instants and when questions expire. All these instants
 * are in the store. One timer is set to the earliest.
 *
 *   waiting ──timer──▶ sweeping ──timer──▶ sweeping again ──▶ … ──nothing due──▶ waiting
 *
 * T1  A task that fell due while no process ran is woken at start.
 * T2  A timer that fires during a sweep causes another sweep, because the first may have read the
 *     store before the task was due there.
 * T3  A task that could not be woken is tried again.
 */

import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { WakeByTime } from './wake-by-time.ts'

export interface Timers {
  /** Called with an instant at which a task will be due. */
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
  const wakeDueTasks = createWakeDueTasks({ store, clock, log, wake, isStopped: () => isStopped() })

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

  /** Wakes due tasks until none is left. The phase is `sweeping` when this is called. */
  async function sweep(): Promise<void> {
    try {
      for (;;) {
        const wokenUntil = await wakeDueTasks()
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

  // These are functions, because `phase` changes during an await, which the compiler does not take
  // into account.
  const isStopped = (): boolean => phase === 'stopped'
  const isAskedAgain = (): boolean => phase === 'sweeping again'

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

/**
 * Wakes every task that is due, in batches: the writes of a batch share commits, and other tasks do
 * not wait long.
 */

/** Returns the instant up to which all due tasks were tried. */
type WakeDueTasks = () => Promise<number>

const BATCH = 128
/** While one batch is written, the next ones are read and decided. */
const CONCURRENT_BATCHES = 3

function createWakeDueTasks(deps: {
  readonly store: Pick<WorkStore, 'due'>
  readonly clock: Clock
  readonly log: Log
  readonly wake: WakeByTime
  readonly isStopped: () => boolean
}): WakeDueTasks {
  const { store, clock, log, wake, isStopped } = deps

  /** @param taken tasks in progress; the batch is added to it, and woken tasks are removed */
  async function wakeBatch(batch: readonly string[], taken: Set<string>): Promise<void> {
    for (const taskId of batch) taken.add(taskId)
    await Promise.all(
      batch.map(async (taskId) => {
        if (await isWoken(taskId)) taken.delete(taskId)
      }),
    )
  }

  /** Returns false when nothing was due for the task, or it could not be woken. */
  async function isWoken(taskId: string): Promise<boolean> {
    try {
      return await wake(taskId)
    } catch (error) {
      log('error', 'a due task could not be woken; trying again', { taskId, error })
      return false
    }
  }

  return async () => {
    let now = clock.now()
    /** Tasks in progress, and tasks that could not be woken in this sweep. */
    const taken = new Set<string>()
    const batches = new Set<Promise<void>>()
    while (!isStopped()) {
      now = clock.now()
      const due = await store.due(now, BATCH + taken.size)
      const batch = due
        .map(({ taskId }) => taskId)
        .filter((taskId) => !taken.has(taskId))
        .slice(0, BATCH)
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
}
