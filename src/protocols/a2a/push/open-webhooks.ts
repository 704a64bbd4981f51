/**
 * Begins the deliveries of the webhooks in the store that are not done: those of earlier processes at the start, and
 * again and again those of other processes on the same store. Reports of what other processes do may be lost (P6).
 */
import type { Engine } from '../../../engine/engine.ts'
import type { DeliveryDeps } from './deliver-records.ts'
import type { OpenCounts } from './open-counts.ts'

export interface OpenWebhooks {
  start(): Promise<void>
  stop(): void
}

export interface OpenWebhooksDeps extends Pick<DeliveryDeps, 'store' | 'clock' | 'log'> {
  readonly engine: Pick<Engine, 'takeDuty'>
  readonly listOpen: OpenCounts['listOpen']
  /** Starts deliveries of a task's webhooks. */
  readonly begin: (taskId: string) => void
}

const SWEEP_MS = 10_000

export function createOpenWebhooks(deps: OpenWebhooksDeps): OpenWebhooks {
  const { engine, store, clock, log, listOpen, begin } = deps
  let stopped = false
  let cancelSweep: () => void = () => undefined

  async function beginAll(): Promise<void> {
    for await (const { taskId } of listOpen()) begin(taskId)
  }

  async function sweep(): Promise<void> {
    if (await engine.takeDuty('webhooks', SWEEP_MS)) await beginAll()
  }

  function sweepLater(): void {
    if (stopped) return
    cancelSweep = clock.after(SWEEP_MS, () => {
      sweep()
        .catch((error: unknown) => log('error', 'Webhooks could not be read', { error }))
        .finally(sweepLater)
    })
  }

  return {
    async start() {
      await beginAll()
      if (store.cluster !== undefined) sweepLater()
    },
    stop() {
      stopped = true
      cancelSweep()
    },
  }
}
