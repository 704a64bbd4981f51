/** Wraps a store so that its commits are counted and timed. */
import type { Meter } from '../../ports/meter.ts'
import type { Store } from '../../ports/store.ts'

export function measureStore(store: Store, meter: Meter): Store {
  return {
    ...store,
    async commit(batch) {
      const started = performance.now()
      try {
        return await store.commit(batch)
      } catch (error) {
        meter.add('lull_store_failures_total')
        throw error
      } finally {
        meter.add('lull_commits_total', batch.length)
        meter.observe('lull_commit_seconds', performance.now() - started)
      }
    },
  }
}
