import * as vitest from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { describeStoreContract, type StoreUnderTest } from '../../testing/store-contract.ts'
import { createMemoryCluster } from './memory-cluster.ts'

async function makeStore(): Promise<StoreUnderTest> {
  const clock = createManualClock()
  const cluster = createMemoryCluster(clock.now)
  const store = cluster.connect()
  return {
    store,
    reopen: async () => store,
    cleanup: () => store.close(),
    cluster: {
      connect: async () => cluster.connect(),
      pass: async (ms) => clock.advance(ms),
    },
  }
}

describeStoreContract(vitest, 'the memory store of several processes', makeStore, true)
