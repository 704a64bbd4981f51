/** A world whose process dies at a chosen record: it is durable, and nobody was told. For tests only. */
import type { LogRecord } from '../../core/records.ts'
import type { Commit } from '../../ports/store/tasks.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export interface CrashingWorld {
  readonly world: World
  /** Another process goes on with the same store, one that does not die. */
  recover(some?: WorldOptions): Promise<World>
}

export async function createWorldThatCrashes(
  given: WorldOptions,
  deadly: (record: LogRecord) => boolean,
): Promise<CrashingWorld> {
  const store = given.store ?? createMemoryStore()
  const dying = new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (name !== 'commit') return member
      return async (commits: readonly Commit[]) => {
        const results = await store.commit(commits)
        if (commits.some(({ records }) => records.some(deadly))) world.crash()
        return results
      }
    },
  })
  const world = await createWorld({ ...given, store: dying })
  return { world, recover: (some = {}) => createWorld({ ...world.given, store, ...some }) }
}
