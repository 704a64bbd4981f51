/** O1 to O3 of `test-support/replay-order/compare.ts`. `npm run simulate -- --order memory --seeds 1..2000` tries other programs. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createDelayingStore } from '../delaying-store.ts'
import { compareRuns, failuresOf, seedsOf } from './compare.ts'

/** Programs that failed once. */
const failedBefore: readonly number[] = [2, 16, 31, 44, 71, 74, 82]

it('O1 to O3 hold for random parallel programs on a store that answers late', {
  timeout: 3_600_000,
}, async () => {
  const compare = (seed: number): Promise<void> => {
    const store = createDelayingStore(createMemoryStore(), { seed, turns: 5 })
    return compareRuns({ seed, store, patience: 20_000 })
  }
  expect(await failuresOf(seedsOf(50, failedBefore), compare)).toEqual([])
})
