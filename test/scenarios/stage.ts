/**
 * Where the stories are told: an engine on a store in memory and on one in a temporary directory, with runs that stay
 * warm and with runs that never do. Whatever the combination, the story is the same.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe } from 'vitest'
import type { Agent } from '../../src/engine/agent.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { createWorld, type World, type WorldOptions } from '../../src/engine/test-support/world.ts'
import type { Store } from '../../src/ports/store.ts'
import { createMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { createSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'

export interface Stage {
  /** A process with these agents. */
  open(...agents: readonly Agent[]): Promise<World>
  /** The process is killed, and another one starts on what it left. */
  killAndRestart(world: World): Promise<World>
  /** The process stops in order, and another one starts. */
  stopAndRestart(world: World): Promise<World>
}

const temperatures: readonly [string, Partial<EngineOptions>][] = [
  ['warm', {}],
  ['cold', { warmForMs: 0, cachedTasks: 1 }],
]

export function describeStories(title: string, tell: (stage: Stage) => void): void {
  for (const place of ['in memory', 'on SQLite'] as const) {
    for (const [temperature, options] of temperatures) {
      describe(`${title} (${place}, ${temperature})`, () => {
        const cleanups: (() => Promise<void>)[] = []
        afterEach(async () => {
          for (const cleanup of cleanups.splice(0)) await cleanup()
        })
        tell(place === 'in memory' ? inMemory(options) : onDisk(options, cleanups))
      })
    }
  }
}

function inMemory(options: Partial<EngineOptions>): Stage {
  return {
    open: (...agents) => createWorld({ agents, options, store: createMemoryStore() }),
    killAndRestart: (world) => world.recover(),
    stopAndRestart: (world) => world.restart(),
  }
}

/** The file is closed and opened again with every process. */
function onDisk(options: Partial<EngineOptions>, cleanups: (() => Promise<void>)[]): Stage {
  const stores = new WeakMap<World, { readonly store: Store; readonly path: string }>()

  async function openAt(path: string, given: WorldOptions): Promise<World> {
    const store = await createSqliteStore({ path, durability: 'relaxed' })
    const world = await createWorld({ ...given, store })
    stores.set(world, { store, path })
    return world
  }

  async function reopen(world: World, stop: () => Promise<void> | void): Promise<World> {
    const { store, path } = stores.get(world) ?? {}
    if (store === undefined || path === undefined) throw new Error('not a world of this stage')
    await stop()
    world.crash()
    await store.close()
    return openAt(path, world.given)
  }

  return {
    async open(...agents) {
      const path = await mkdtemp(join(tmpdir(), 'lull-scenario-'))
      cleanups.push(() => rm(path, { recursive: true, force: true }))
      return openAt(path, { agents, options })
    },
    killAndRestart: (world) => reopen(world, () => undefined),
    stopAndRestart: (world) => reopen(world, () => world.engine.drain()),
  }
}
