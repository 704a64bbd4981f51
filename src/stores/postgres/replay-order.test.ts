/** O1 to O3 of `engine/test-support/replay-order/compare.ts`. `npm run simulate -- --order postgres` tries other programs. */
import { expect, it, onTestFinished } from 'vitest'
import { compareRuns, failuresOf, seedsOf } from '../../engine/test-support/replay-order/compare.ts'
import { createRandom } from '../../engine/test-support/simulation/random.ts'
import type { Store } from '../../ports/store.ts'
import { storeMaker } from './test-support/new-schema.ts'

const makeStore = storeMaker()

/** A budget is read as slowly as over a busy network: now and then several records are written meanwhile. */
function withSlowBudgets(store: Store, seed: number): Store {
  const random = createRandom(seed)
  return {
    ...store,
    async spent(ids) {
      for (let trips = random.below(8); trips > 0; trips--) await store.spent(ids)
      return store.spent(ids)
    },
  }
}

it('O1 to O3 hold for random parallel programs', { timeout: 3_600_000 }, async () => {
  // The programs share a schema.
  const { store, cleanup } = await makeStore()
  onTestFinished(cleanup)
  const compare = (seed: number): Promise<void> => {
    // Loop turns are short beside the answers of a server.
    const times = { startAt: Date.now(), patience: Number.POSITIVE_INFINITY, pace: 20 }
    return compareRuns({ seed, store: withSlowBudgets(store, seed), ...times })
  }
  expect(await failuresOf(seedsOf(6), compare)).toEqual([])
})
