/** A started engine with the script agent, a manual clock and a store in memory. For tests only. */
import type { Agent } from '../../engine/author/agent.ts'
import type { Caller } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import { createEngine, type Engine } from '../../engine/engine.ts'
import type { EngineOptions } from '../../engine/options.ts'
import type { Store } from '../../ports/store.ts'
import { createIds } from '../../server/system/ids.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { testSigner } from '../../testing/test-signer.ts'

export const anyone: Caller = { tenant: 'default', principal: 'anonymous' }

export interface TestEngineOptions {
  readonly agents?: readonly Agent[]
  readonly store?: Store
  readonly clock?: ManualClock
  readonly options?: Partial<EngineOptions>
}

export interface TestEngine extends Pick<EngineDeps, 'ids' | 'log'> {
  readonly engine: Engine
  readonly store: Store
  readonly clock: ManualClock
}

/** @param effects is called for every step and tool of the script agent that runs */
export async function startTestEngine(
  given: TestEngineOptions,
  log: EngineDeps['log'] = () => undefined,
  effects: (line: string) => void = () => undefined,
): Promise<TestEngine> {
  const { store = createMemoryStore(), clock = createManualClock(), options = {} } = given
  const agents = given.agents ?? [createScriptAgent({ clock, effects })]
  const ids = createIds(clock.now)
  const memory = { usedBytes: () => 0 }
  const engine = createEngine({
    store,
    agents,
    clock,
    ids,
    signer: testSigner,
    log,
    memory,
    options,
  })
  await engine.start()
  return { engine, store, clock, ids, log }
}
