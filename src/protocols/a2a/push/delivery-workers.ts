/** Decides when webhooks are sent what is due. A webhook has one worker while there is something to deliver. */
import type { Push } from '../../../core/push.ts'
import { createDeliverRecords, type DeliveryDeps } from './deliver-records.ts'

/** How long another process waits before it takes over from one that is gone. */
const DUTY_MS = 20_000

export interface DeliveryWorkers {
  /** Starts a worker for each webhook of the task that may have something to deliver. */
  wake(taskId: string): void
  close(): void
}

export function createDeliveryWorkers(deps: DeliveryDeps): DeliveryWorkers {
  const { engine, store, clock, log } = deps
  const deliverRecords = createDeliverRecords(deps)
  /** Webhooks with a worker. True when the worker must run again after it has finished. */
  const busy = new Map<string, boolean>()
  /** Cancels the next attempt, per webhook that has one. */
  const retries = new Map<string, () => void>()
  const closing = new AbortController()
  const measure = (): void => measureBacklog(deps, busy.size, retries.size)

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
    measure()
    deliver(push, key)
      .then((at) => {
        if (at !== undefined) retryAt(push, at)
      })
      .catch((error: unknown) => log('error', 'A webhook worker stopped', { key, error }))
      .finally(() => {
        const again = busy.get(key)
        busy.delete(key)
        measure()
        if (again) wake(push.taskId)
      })
  }

  /** Returns when to try again. On a shared store, a webhook belongs to one process for a while. */
  async function deliver(push: Push, key: string): Promise<number | undefined> {
    if (store.cluster === undefined) return deliverRecords(push, key, closing.signal)
    if (!(await engine.takeDuty(`webhook ${key}`, DUTY_MS))) return clock.now() + DUTY_MS
    // The process that had it before may have delivered since.
    const now = (await store.pushes(push.taskId)).find(({ id }) => id === push.id)
    return now?.createdAt === push.createdAt ? deliverRecords(now, key, closing.signal) : undefined
  }

  /** Each webhook has its own timer, because receivers fail independently (P4). */
  function retryAt(push: Push, at: number): void {
    if (closing.signal.aborted) return
    const key = keyOf(push)
    retries.get(key)?.()
    const cancel = clock.after(at - clock.now(), () => {
      retries.delete(key)
      measure()
      wake(push.taskId)
    })
    retries.set(key, cancel)
    measure()
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

function measureBacklog({ meter }: DeliveryDeps, sending: number, retrying: number): void {
  meter?.set('lull_push_backlog', sending, 'sending')
  meter?.set('lull_push_backlog', retrying, 'retrying')
}

function keyOf({ taskId, id }: Push): string {
  return JSON.stringify([taskId, id])
}
