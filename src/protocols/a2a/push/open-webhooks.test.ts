import { expect, it } from 'vitest'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { countOpen } from './open-counts.ts'
import { createOpenWebhooks } from './open-webhooks.ts'

it('the sweep of open webhooks does not go on when it was stopped while it read', async () => {
  const clock = createManualClock()
  const answers: ((mine: boolean) => void)[] = []
  const store = createMemoryCluster(clock.now).connect()
  const webhooks = createOpenWebhooks({
    engine: { takeDuty: () => new Promise<boolean>((resolve) => answers.push(resolve)) },
    store,
    listOpen: countOpen(store, clock).listOpen,
    clock,
    log: () => undefined,
    begin: () => undefined,
  })
  await webhooks.start()
  clock.advance(10_000)
  expect(answers).toHaveLength(1)
  webhooks.stop()
  answers[0]?.(false)
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(10_000)
  expect(answers).toHaveLength(1)
})
