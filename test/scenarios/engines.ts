/**
 * Runs every scenario on four engines: with a store in memory and with one in a temporary directory, each with warm and
 * with cold runs. The outcome is the same on all of them.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe } from 'vitest'
import type { Agent } from '../../src/engine/author/agent.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import {
  createHarness,
  type Harness,
  type HarnessOptions,
} from '../../src/engine/test-support/engine-harness.ts'
import type { Store } from '../../src/ports/store.ts'
import { createMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { createSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'

export interface EngineFactory {
  /** A process with these agents. */
  open(...agents: readonly Agent[]): Promise<Harness>
  /** The process is killed, and another one starts on what it left. */
  killAndRestart(harness: Harness): Promise<Harness>
  /** The process stops in order, and another one starts. */
  stopAndRestart(harness: Harness): Promise<Harness>
}

const temperatures: readonly [string, Partial<EngineOptions>][] = [
  ['warm', {}],
  ['cold', { warmForMs: 0, cachedTasks: 1 }],
]

export function describeScenarios(title: string, define: (engines: EngineFactory) => void): void {
  for (const place of ['in memory', 'on SQLite'] as const) {
    for (const [temperature, options] of temperatures) {
      describe(`${title} (${place}, ${temperature})`, () => {
        const cleanups: (() => Promise<void>)[] = []
        afterEach(async () => {
          for (const cleanup of cleanups.splice(0)) await cleanup()
        })
        define(place === 'in memory' ? inMemory(options) : onDisk(options, cleanups))
      })
    }
  }
}

function inMemory(options: Partial<EngineOptions>): EngineFactory {
  return {
    open: (...agents) => createHarness({ agents, options, store: createMemoryStore() }),
    killAndRestart: (harness) => harness.recover(),
    stopAndRestart: (harness) => harness.restart(),
  }
}

/** The file is closed and opened again with every process. */
function onDisk(options: Partial<EngineOptions>, cleanups: (() => Promise<void>)[]): EngineFactory {
  const stores = new WeakMap<Harness, { readonly store: Store; readonly path: string }>()

  async function openAt(path: string, given: HarnessOptions): Promise<Harness> {
    const store = await createSqliteStore({ path, durability: 'relaxed' })
    const harness = await createHarness({ ...given, store })
    stores.set(harness, { store, path })
    return harness
  }

  async function reopen(harness: Harness, stop: () => Promise<void> | void): Promise<Harness> {
    const { store, path } = stores.get(harness) ?? {}
    if (store === undefined || path === undefined) throw new Error('not a harness of this engines')
    await stop()
    harness.crash()
    await store.close()
    return openAt(path, harness.given)
  }

  return {
    async open(...agents) {
      const path = await mkdtemp(join(tmpdir(), 'lull-scenario-'))
      cleanups.push(() => rm(path, { recursive: true, force: true }))
      return openAt(path, { agents, options })
    },
    killAndRestart: (harness) => reopen(harness, () => undefined),
    stopAndRestart: (harness) => reopen(harness, () => harness.engine.drain()),
  }
}
