import { LullError } from '../core/errors.ts'
import type { Signal } from '../core/signal.ts'
import type { Task } from '../core/task.ts'
import type { EngineContext } from './context.ts'

/** The task once it is as wanted, or as it stands when the time is over. Nothing is polled. */
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
    /** As it was when it was as wanted: it may have gone on since. */
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
    // It may have ended in between, and left memory with that.
    else now().then(look).catch(reject)
  })
}
