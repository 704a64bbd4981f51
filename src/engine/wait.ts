import { LullError } from '../core/errors.ts'
import type { Signal } from '../core/signal.ts'
import type { Task } from '../core/task.ts'
import type { EngineContext } from './context.ts'

/** Resolves with the task once `wanted` is true for it, or after the time. It watches writes and does not poll. */
export async function waitFor(
  context: Pick<EngineContext, 'ledger' | 'subscriptions' | 'clock'>,
  taskId: string,
  wanted: (task: Task) => boolean,
  timeoutMs: number,
  signal?: Signal,
): Promise<Task> {
  const { ledger, subscriptions, clock } = context
  const now = async (): Promise<Task> => {
    const task = await ledger.read(taskId)
    if (task === undefined) throw new LullError('TASK_NOT_FOUND', { taskId })
    return task
  }
  const first = await now()
  if (wanted(first) || timeoutMs <= 0) return first
  return new Promise((resolve, reject) => {
    const stopWaiting = (): void => {
      stop()
      cancel()
      signal?.removeEventListener('abort', giveUp)
    }
    const giveUp = (): void => {
      stopWaiting()
      now().then(resolve, reject)
    }
    /** Resolves with the task as it was when `wanted` was true. It may have changed since. */
    const look = (task: Task): void => {
      try {
        if (!wanted(task)) return
        resolve(task)
      } catch (error) {
        reject(error)
      }
      stopWaiting()
    }
    const stop = subscriptions.watch(taskId, look)
    const cancel = Number.isFinite(timeoutMs) ? clock.after(timeoutMs, giveUp) : () => undefined
    signal?.addEventListener('abort', giveUp)
    const seen = ledger.peek(taskId)
    if (signal?.aborted) giveUp()
    else if (seen !== undefined) look(seen)
    // It may have ended since the first read, and tasks that end leave memory.
    else now().then(look).catch(reject)
  })
}
