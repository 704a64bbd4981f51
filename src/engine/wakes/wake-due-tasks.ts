/**
 * Wakes every task that is due, in batches: the writes of a batch share commits, and other tasks do
 * not wait long.
 */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { WakeByTime } from './wake-by-time.ts'

/** Returns the instant up to which all due tasks were tried. */
export type WakeDueTasks = () => Promise<number>

const BATCH = 128
/** While one batch is written, the next ones are read and decided. */
const CONCURRENT_BATCHES = 3

export function createWakeDueTasks(deps: {
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
}
