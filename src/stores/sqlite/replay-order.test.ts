/** O1 to O3 of `engine/test-support/replay-order/compare.ts`. `npm run simulate -- --order sqlite` tries other programs. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createDelayingStore } from '../../engine/test-support/delaying-store.ts'
import { compareRuns, failuresOf, seedsOf } from '../../engine/test-support/replay-order/compare.ts'
import { createSqliteStore } from './sqlite-store.ts'

it('O1 to O3 hold for random parallel programs', { timeout: 3_600_000 }, async () => {
  const path = await mkdtemp(join(tmpdir(), 'lull-sqlite-'))
  // The programs share a database, and wait for no disk.
  const sqlite = await createSqliteStore({ path, durability: 'relaxed' })
  onTestFinished(async () => {
    await sqlite.close()
    await rm(path, { recursive: true })
  })
  const compare = (seed: number): Promise<void> => {
    const store = createDelayingStore(sqlite, { seed, turns: 5 })
    return compareRuns({ seed, store, patience: 200_000 })
  }
  expect(await failuresOf(seedsOf(10), compare)).toEqual([])
})
