/**
 * Decides when deliveries to webhooks start. A webhook has at most one worker, and only while there
 * is something to deliver.
 */

import { isLullError } from '../../../core/errors.ts'
import type { Push } from '../../../core/push.ts'
import type { Task } from '../../../core/task.ts'
import { createDeliverRecords } from './deliver-records.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { isRetryDue } from './delivery-failure.ts'
import { TakenOver } from './webhook-duty.ts'

export type TaskKey = Pick<Task, 'tenant' | 'id'>

export interface DeliveryWorkers {
  /**
   * Starts a worker for each webhook of the task that may have something to deliver. Resolves when
   * each of them is about to post or has ended: a post may take long, and no webhook waits for
   * another one (P4 of `pushes.ts`).
   */
  wake(task: TaskKey): Promise<void>
  close(): void
}

export function createDeliveryWorkers(deps: DeliveryDeps): DeliveryWorkers {
  const { store, clock, log } = deps
  const deliverRecords = createDeliverRecords(deps)
  /**
   * Webhooks with a worker. The value is true if the worker must run again after it has finished.
   */
  const busy = new Map<string, boolean>()
  /**
   * Functions that cancel the timer of the next attempt. Each webhook has its own timer, because receivers fail
   * independently (P4 of `pushes.ts`).
   */
  const retries = new Map<string, () => void>()
  const closing = new AbortController()

  function measure(): void {
    deps.meter?.set('lull_push_backlog', busy.size, 'sending')
    deps.meter?.set('lull_push_backlog', retries.size, 'retrying')
  }

  async function wake({ tenant, id: taskId }: TaskKey): Promise<void> {
    if (closing.signal.aborted) return
    try {
      await Promise.all((await store.pushes(tenant, taskId)).map(startWorker))
    } catch (error) {
      log('error', 'Webhooks could not be read', { taskId, error })
    }
  }

  async function startWorker(push: Push): Promise<void> {
    if (closing.signal.aborted || push.done || push.failedAt !== undefined) return
    const key = keyOf(push)
    if (busy.has(key)) {
      busy.set(key, true)
      return
    }
    if (push.retryAt !== undefined && !isRetryDue(push, clock.now())) {
      retryAt(push, push.retryAt)
      return
    }
    busy.set(key, false)
    measure()
    await new Promise<void>((posting) => {
      void work(push, key, posting).finally(() => {
        const again = busy.get(key)
        busy.delete(key)
        measure()
        if (again) void wake(taskOf(push))
        posting()
      })
    })
  }

  /** Runs one worker. Never rejects. */
  async function work(push: Push, key: string, posting: () => void): Promise<void> {
    try {
      const at = await deliverRecords(push, key, closing.signal, posting)
      if (at !== undefined) retryAt(push, at)
    } catch (error) {
      // The other process delivers what is due. If it fails, the sweep of open webhooks finds the
      // webhook again.
      if (error instanceof TakenOver && error.cause === undefined) return
      if (isLullError(error, 'TASK_NOT_FOUND')) await removeLeft(push)
      else log('error', 'A webhook worker stopped', { key, error })
    }
  }

  /** Removes a webhook that was set while retention removed its task. */
  async function removeLeft({ owner, taskId, id }: Push): Promise<void> {
    await store
      .deletePush(owner.tenant, taskId, id)
      .catch((error: unknown) => log('warn', 'a webhook could not be removed', { taskId, error }))
  }

  function retryAt(push: Push, at: number): void {
    if (closing.signal.aborted) return
    const key = keyOf(push)
    retries.get(key)?.()
    const cancel = clock.after(at - clock.now(), () => {
      retries.delete(key)
      measure()
      void wake(taskOf(push))
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

/** The task of a webhook. */
export function taskOf({ owner, taskId }: Push): TaskKey {
  return { tenant: owner.tenant, id: taskId }
}

function keyOf({ taskId, id }: Push): string {
  return JSON.stringify([taskId, id])
}
