import type { Hono } from 'hono'
import { type Agent, agent } from '../../engine/author/agent.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import { createEngine, type Engine } from '../../engine/engine.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { testSigner } from '../../testing/test-signer.ts'
import { owner } from '../auth/identity.ts'
import { type AppOptions, createApp } from '../http/app.ts'

export interface OpenApp {
  readonly app: Hono
  readonly engine: Engine
  readonly deps: EngineDeps
}

/** An agent that waits for the event its message names. */
export const waiter: Agent = agent({
  name: 'waiter',
  description: 'Waits <for> what it is told',
  run: async (task) => {
    const { event } = await task.park({ reason: 'told to', onEvent: task.text })
    return event?.type
  },
})

export async function openApp(more: Partial<AppOptions> = {}): Promise<OpenApp> {
  const deps: EngineDeps = {
    store: createMemoryStore(),
    agents: [waiter],
    clock: createManualClock(),
    ids: createCountingIds(),
    signer: testSigner,
    log: () => undefined,
    memory: { usedBytes: () => 0 },
  }
  const engine = createEngine(deps)
  await engine.start()
  const url = 'http://127.0.0.1:8787'
  const app = createApp({ engine, log: deps.log, url, identityOf: () => owner, ...more })
  return { app, engine, deps }
}
