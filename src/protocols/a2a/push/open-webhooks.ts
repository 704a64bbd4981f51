/**
 * Begins the deliveries of the webhooks in the store that are not done: all of them at the start, and again and again
 * those that have something due, of other processes on the same store. Reports of what other processes do may be lost
 * (P6).
 */
import type { Push } from '../../../core/push.ts'
import type { Engine } from '../../../engine/engine.ts'
import { createShares } from '../../../engine/limits/shares.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { isRetryDue } from './delivery-failure.ts'
import type { OpenCounts } from './open-counts.ts'

export interface OpenWebhooks {
  start(): Promise<void>
  stop(): void
}

export interface OpenWebhooksDeps extends Pick<DeliveryDeps, 'store' | 'clock' | 'log'> {
  readonly engine: Pick<Engine, 'takeDuty'>
  readonly listOpen: OpenCounts['listOpen']
  /**
   * Starts deliveries of a task's webhooks. Resolves when they no longer read the store, or wait for a receiver. Never
   * fails.
   */
  readonly begin: (taskId: string) => Promise<void>
}

type Cluster = NonNullable<DeliveryDeps['store']['cluster']>

const SWEEP_MS = 10_000
/** Webhooks that are compared with the versions of their tasks at once. */
const PAGE = 500
/** Tasks whose webhooks read the store at once: the store has other work. */
const AT_ONCE = 8

export function createOpenWebhooks(deps: OpenWebhooksDeps): OpenWebhooks {
  const { engine, store, clock, log, listOpen, begin } = deps
  const shares = createShares(AT_ONCE)
  /** Tasks that are being begun or wait for it. */
  const begun = new Set<string>()
  let stopped = false
  let cancelSweep: () => void = () => undefined

  /** The tasks of all open webhooks. An earlier program may have left some that got everything and are not done. */
  async function openTasks(): Promise<ReadonlySet<string>> {
    const open = new Set<string>()
    for await (const { taskId } of listOpen()) open.add(taskId)
    return open
  }

  /** The tasks of open webhooks that have something due now. */
  async function dueTasks(cluster: Cluster): Promise<ReadonlySet<string>> {
    const due = new Set<string>()
    let page: Push[] = []
    async function look(): Promise<void> {
      const found = await cluster.versions(page.map(({ taskId }) => taskId))
      for (const [index, push] of page.entries()) {
        if (isDue(push, found[index] ?? 0)) due.add(push.taskId)
      }
      page = []
    }
    for await (const push of listOpen()) if (page.push(push) === PAGE) await look()
    await look()
    return due
  }

  /**
   * A retry has a timer in the process that failed. When that is gone, a later sweep finds the retry.
   *
   * @param version 0: the task is gone, and its webhook is to be removed
   */
  function isDue(push: Push, version: number): boolean {
    return (version === 0 || version > push.sentSeq) && isRetryDue(push, clock.now())
  }

  /** Nobody waits for it: one task may take long. */
  function beginAll(taskIds: ReadonlySet<string>): void {
    for (const taskId of taskIds) {
      if (begun.has(taskId)) continue
      begun.add(taskId)
      void shares.during('sweep', () => begin(taskId)).finally(() => begun.delete(taskId))
    }
  }

  async function sweep(cluster: Cluster): Promise<void> {
    if (await engine.takeDuty('webhooks', SWEEP_MS)) beginAll(await dueTasks(cluster))
  }

  function sweepLater(): void {
    const { cluster } = store
    if (stopped || cluster === undefined) return
    cancelSweep = clock.after(SWEEP_MS, () => {
      sweep(cluster)
        .catch((error: unknown) => log('error', 'Webhooks could not be read', { error }))
        .finally(sweepLater)
    })
  }

  return {
    async start() {
      beginAll(await openTasks())
      sweepLater()
    },
    stop() {
      stopped = true
      cancelSweep()
    },
  }
}
