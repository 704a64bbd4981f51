import { LullError } from '../../core/errors.ts'
import type { Signal } from '../../core/signal.ts'
import type { Task } from '../../core/task.ts'
import type { EngineContext } from '../context.ts'

export interface Wait {
  readonly taskId: string
  readonly wanted: (task: Task) => boolean
  readonly timeoutMs: number
  readonly signal?: Signal | undefined
  /**
   * Reads the task as it is now. Nothing is returned when it rejects. Undefined: it is waited until the task exists. Default: from
   * the ledger, where the task exists.
   */
  readonly read?: () => Promise<Task | undefined>
}

/**
 * Resolves with the task once `wanted` is true for it, or after the time. It watches writes and does not poll. It watches
 * before it reads, so one read is enough: a write in between is seen.
 */
export function waitFor(
  { ledger, subscriptions, clock }: Pick<EngineContext, 'ledger' | 'subscriptions' | 'clock'>,
  { taskId, wanted, timeoutMs, signal, read: given }: Wait,
): Promise<Task> {
  const read =
    given ??
    (async () => {
      const task = await ledger.read(taskId)
      if (task === undefined) throw new LullError('TASK_NOT_FOUND', { taskId })
      return task
    })

  return new Promise((resolve, reject) => {
    /** What was written before the read was answered. `wanted` sees nothing that the read would not allow. */
    let early: Task[] | undefined = []
    let isOver = false
    let cancel = (): void => undefined

    const stopWaiting = (): void => {
      isOver = true
      stop()
      cancel()
      signal?.removeEventListener('abort', giveUp)
    }
    const fail = (error: unknown): void => {
      stopWaiting()
      reject(error)
    }
    const giveUp = (): void => {
      stopWaiting()
      read().then((task) => {
        if (task === undefined) reject(new LullError('TASK_NOT_FOUND', { taskId }))
        else resolve(task)
      }, reject)
    }
    /** Resolves with the task as it was when `wanted` was true. It may have changed since. */
    const look = (task: Task): void => {
      try {
        if (isOver || !wanted(task)) return
        stopWaiting()
        resolve(task)
      } catch (error) {
        fail(error)
      }
    }
    const stop = subscriptions.watch(taskId, (task) => {
      if (early === undefined) look(task)
      else early.push(task)
    })
    const begin = (first: Task | undefined): void => {
      const tasks = [...(first === undefined ? [] : [first]), ...(early ?? [])]
      early = undefined
      for (const task of tasks) look(task)
      if (isOver) return
      if (timeoutMs <= 0 || signal?.aborted) giveUp()
      else {
        if (Number.isFinite(timeoutMs)) cancel = clock.after(timeoutMs, giveUp)
        signal?.addEventListener('abort', giveUp)
      }
    }
    read().then(begin).catch(fail)
  })
}
