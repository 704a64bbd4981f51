import { describeStoreContract, type StoreUnderTest } from '../../testing/store-contract.ts'
import { describeStoreModel } from '../../testing/store-model.ts'
import { createMemoryStore } from './memory-store.ts'

async function makeStore(): Promise<StoreUnderTest> {
  const store = createMemoryStore()
  return { store, cleanup: () => store.close() }
}

describeStoreContract('the memory store', makeStore)
describeStoreModel('the memory store', makeStore)
