import * as vitest from 'vitest'
import { describeStoreContract, type StoreUnderTest } from '../../testing/store-contract.ts'
import { describeStoreModel } from '../test-support/store-model.ts'
import { createMemoryStore } from './memory-store.ts'

async function makeStore(): Promise<StoreUnderTest> {
  const store = createMemoryStore()
  return { store, reopen: async () => store, cleanup: () => store.close() }
}

describeStoreContract(vitest, 'the memory store', makeStore)
describeStoreModel('the memory store', makeStore)
