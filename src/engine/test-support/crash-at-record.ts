/** A harness whose process dies at a chosen record: it is durable, and nobody was told. For tests only. */
import type { LogRecord } from '../../core/records.ts'
import type { Commit } from '../../ports/store/tasks.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createHarness, type Harness, type HarnessOptions } from './engine-harness.ts'

export interface CrashingHarness {
  readonly harness: Harness
  /** Another process goes on with the same store, one that does not die. */
  recover(some?: HarnessOptions): Promise<Harness>
}

export async function createHarnessThatCrashes(
  given: HarnessOptions,
  deadly: (record: LogRecord) => boolean,
): Promise<CrashingHarness> {
  const store = given.store ?? createMemoryStore()
  const dying = new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (name !== 'commit') return member
      return async (commits: readonly Commit[]) => {
        const results = await store.commit(commits)
        if (commits.some(({ records }) => records.some(deadly))) harness.crash()
        return results
      }
    },
  })
  const harness = await createHarness({ ...given, store: dying })
  return { harness, recover: (some = {}) => createHarness({ ...harness.given, store, ...some }) }
}
