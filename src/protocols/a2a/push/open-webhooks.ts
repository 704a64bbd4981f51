/**
 * Begins the deliveries of the webhooks in the store that are not done: those of earlier processes at the start, and
 * again and again those of other processes on the same store. Reports of what other processes do may be lost (P6).
 */
import type { Push } from '../../../core/push.ts'
import type { Engine } from '../../../engine/engine.ts'
import { createShares } from '../../../engine/shares.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import type { OpenCounts } from './open-counts.ts'

export interface OpenWebhooks {
  start(): Promise<void>
  stop(): void
}

export interface OpenWebhooksDeps extends Pick<DeliveryDeps, 'store' | 'clock' | 'log'> {
  readonly engine: Pick<Engine, 'takeDuty'>
  readonly listOpen: OpenCounts['listOpen']
  /** Starts deliveries of a task's webhooks. Resolves when they no longer read the store, or wait for a receiver. */
  readonly begin: (taskId: string) => Promise<void>
}

const SWEEP_MS = 10_000
/** Webhooks that are compared with the versions of their tasks at once. */
const PAGE = 500
/** Tasks whose webhooks read the store at once: the store has other work. */
const AT_ONCE = 8

export function createOpenWebhooks(deps: OpenWebhooksDeps): OpenWebhooks {
  const { engine, store, clock, log, listOpen, begin } = deps
  const shares = createShares(AT_ONCE)
  let stopped = false
  let cancelSweep: () => void = () => undefined

  /** The tasks of open webhooks. On a shared store only of those that have something due now. */
  async function dueTasks(): Promise<readonly string[]> {
    const due = new Set<string>()
    let page: Push[] = []
    async function look(): Promise<void> {
      const versions = await store.cluster?.versions(page.map(({ taskId }) => taskId))
      for (const [index, push] of page.entries()) {
        if (versions === undefined || isDue(push, versions[index] ?? 0)) due.add(push.taskId)
      }
      page = []
    }
    for await (const push of listOpen()) if (page.push(push) === PAGE) await look()
    await look()
    return [...due]
  }

  /**
   * A retry has a timer in the process that failed. When that is gone, a later sweep finds the retry.
   *
   * @param version 0: the task is gone, and its webhook is to be removed
   */
  function isDue({ sentSeq, retryAt = 0 }: Push, version: number): boolean {
    return (version === 0 || version > sentSeq) && retryAt <= clock.now()
  }

  async function beginAll(taskIds: readonly string[]): Promise<void> {
    await Promise.all(taskIds.map((taskId) => shares.during('sweep', () => begin(taskId))))
  }

  async function sweep(): Promise<void> {
    if (await engine.takeDuty('webhooks', SWEEP_MS)) await beginAll(await dueTasks())
  }

  function sweepLater(): void {
    if (stopped || store.cluster === undefined) return
    cancelSweep = clock.after(SWEEP_MS, () => {
      sweep()
        .catch((error: unknown) => log('error', 'Webhooks could not be read', { error }))
        .finally(sweepLater)
    })
  }

  return {
    async start() {
      const taskIds = await dueTasks()
      // The server does not wait for it.
      void beginAll(taskIds).finally(sweepLater)
    },
    stop() {
      stopped = true
      cancelSweep()
    },
  }
}
