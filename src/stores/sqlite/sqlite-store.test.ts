import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vitest from 'vitest'
import { describeStoreContract, type StoreUnderTest } from '../../testing/store-contract.ts'
import { describeStoreModel } from '../test-support/store-model.ts'
import { createSqliteStore } from './sqlite-store.ts'

async function makeStore(durability: 'full' | 'relaxed'): Promise<StoreUnderTest> {
  const path = await mkdtemp(join(tmpdir(), 'lull-sqlite-'))
  let store = await createSqliteStore({ path, durability })
  return {
    store,
    async reopen() {
      await store.close()
      store = await createSqliteStore({ path, durability })
      return store
    },
    async cleanup() {
      await store.close()
      await rm(path, { recursive: true })
    },
  }
}

describeStoreContract(vitest, 'the SQLite store', () => makeStore('full'))
// Relaxed durability, because hundreds of small histories would only wait for the disk.
describeStoreModel('the SQLite store', () => makeStore('relaxed'))
