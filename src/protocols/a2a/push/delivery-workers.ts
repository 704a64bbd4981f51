/** Decides when webhooks are sent what is due. A webhook has one worker while there is something to deliver. */
import type { Push } from '../../../core/push.ts'
import { createDeliverRecords, type DeliveryDeps } from './deliver-records.ts'

export interface DeliveryWorkers {
  /** Starts a worker for each webhook of the task that may have something to deliver. */
  wake(taskId: string): void
  close(): void
}

export function createDeliveryWorkers(deps: DeliveryDeps): DeliveryWorkers {
  const { store, clock, log } = deps
  const deliverRecords = createDeliverRecords(deps)
  /** Webhooks with a worker. True when the worker must run again after it has finished. */
  const busy = new Map<string, boolean>()
  /** Cancels the next attempt, per webhook that has one. */
  const retries = new Map<string, () => void>()
  const closing = new AbortController()

  function wake(taskId: string): void {
    if (closing.signal.aborted) return
    store
      .pushes(taskId)
      .then((pushes) => {
        for (const push of pushes) startWorker(push)
      })
      .catch((error: unknown) => log('error', 'Webhooks could not be read', { taskId, error }))
  }

  function startWorker(push: Push): void {
    if (closing.signal.aborted || push.done || push.failedAt !== undefined) return
    const key = keyOf(push)
    if (busy.has(key)) {
      busy.set(key, true)
      return
    }
    if (push.retryAt !== undefined && push.retryAt > clock.now()) {
      retryAt(push, push.retryAt)
      return
    }
    busy.set(key, false)
    deliverRecords(push, key, closing.signal)
      .then((at) => {
        if (at !== undefined) retryAt(push, at)
      })
      .catch((error: unknown) => log('error', 'A webhook worker stopped', { key, error }))
      .finally(() => {
        const again = busy.get(key)
        busy.delete(key)
        if (again) wake(push.taskId)
      })
  }

  /** Each webhook has its own timer, because receivers fail independently (P4). */
  function retryAt(push: Push, at: number): void {
    if (closing.signal.aborted) return
    const key = keyOf(push)
    retries.get(key)?.()
    const cancel = clock.after(at - clock.now(), () => {
      retries.delete(key)
      wake(push.taskId)
    })
    retries.set(key, cancel)
  }

  return {
    wake,
    close() {
      closing.abort()
      for (const cancel of retries.values()) cancel()
      retries.clear()
    },
  }
}

function keyOf({ taskId, id }: Push): string {
  return JSON.stringify([taskId, id])
}
