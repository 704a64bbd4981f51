/**
 * Starts the deliveries of stored webhooks that are not done: all of them at the start of the
 * process, and later, in regular sweeps of a shared store, those that have something due, because
 * reports of other processes may be lost (P6 of `pushes.ts`).
 */
import type { Push } from '../../../core/push.ts'
import type { Engine } from '../../../engine/engine.ts'
import { createShares } from '../../../engine/limits/shares.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { isRetryDue } from './delivery-failure.ts'
import { type TaskKey, taskOf } from './delivery-workers.ts'
import type { OpenCounts } from './open-counts.ts'

export interface OpenWebhooks {
  start(): Promise<void>
  stop(): void
}

export interface OpenWebhooksDeps extends Pick<DeliveryDeps, 'store' | 'clock' | 'log'> {
  readonly engine: Pick<Engine, 'takeDuty'>
  readonly listOpen: OpenCounts['listOpen']
  /**
   * Starts deliveries to a task's webhooks. Resolves when they have read the store, or wait for a
   * receiver. Never rejects.
   */
  readonly begin: (task: TaskKey) => Promise<void>
}

/** Tasks by their ids. */
type Tasks = ReadonlyMap<string, TaskKey>

type Cluster = NonNullable<DeliveryDeps['store']['cluster']>

const SWEEP_MS = 10_000
/** The number of webhooks that are compared with the versions of their tasks at once. */
const PAGE = 500
/**
 * The most tasks whose webhooks read the store at the same time, because the store has other work
 * too.
 */
const AT_ONCE = 8

export function createOpenWebhooks(deps: OpenWebhooksDeps): OpenWebhooks {
  const { engine, store, clock, log, listOpen, begin } = deps
  const shares = createShares(AT_ONCE)
  /** Tasks whose deliveries are being started, or wait for that. */
  const begun = new Set<string>()
  let stopped = false
  let cancelSweep: () => void = () => undefined

  /**
   * The tasks of all open webhooks. An older version of Lull may have left some that were fully
   * delivered but not marked as done.
   */
  async function openTasks(): Promise<Tasks> {
    const open = new Map<string, TaskKey>()
    for await (const push of listOpen()) open.set(push.taskId, taskOf(push))
    return open
  }

  /** The tasks of open webhooks that have something due now. */
  async function dueTasks(cluster: Cluster): Promise<Tasks> {
    const due = new Map<string, TaskKey>()
    let page: Push[] = []
    async function look(): Promise<void> {
      const found = await cluster.versions(page.map(taskOf))
      for (const [index, push] of page.entries()) {
        if (isDue(push, found[index] ?? 0)) due.set(push.taskId, taskOf(push))
      }
      page = []
    }
    for await (const push of listOpen()) if (page.push(push) === PAGE) await look()
    await look()
    return due
  }

  /**
   * Whether a webhook has something due. A retry has a timer in the process that failed; if that
   * process is gone, a later sweep finds the retry.
   * @param version 0 if the task no longer exists, so that its webhook has to be removed
   */
  function isDue(push: Push, version: number): boolean {
    return (version === 0 || version > push.sentSeq) && isRetryDue(push, clock.now())
  }

  /** Starts the deliveries without waiting, because one task may take long. */
  function beginAll(tasks: Tasks): void {
    for (const [taskId, task] of tasks) {
      if (begun.has(taskId)) continue
      begun.add(taskId)
      void shares.during('sweep', () => begin(task)).finally(() => begun.delete(taskId))
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
