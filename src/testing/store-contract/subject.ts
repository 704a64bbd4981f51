import type { Store } from '../../ports/store.ts'
import type { TestKit } from './test-kit.ts'

/** A store that only one test uses. */
export interface StoreUnderTest {
  readonly store: Store
  /** Closes the store and opens it again on the same data. A store without durable data returns itself. */
  readonly reopen: () => Promise<Store>
  readonly cleanup: () => Promise<void>
  /** Present for a store with a `cluster` part. */
  readonly cluster?: ClusterUnderTest
}

export interface ClusterUnderTest {
  /** Opens another connection to the same data, as another process would. `cleanup` closes it. */
  readonly connect: () => Promise<Store>
  /**
   * Advances the store's clock: moves the clock itself, or moves back every instant written by it.
   */
  readonly pass: (ms: number) => Promise<void>
}

export type MakeStore = () => Promise<StoreUnderTest>

export interface Subject {
  readonly kit: TestKit
  /** The store of the running test. */
  readonly store: Store
  readonly reopen: () => Promise<Store>
  readonly cluster: ClusterUnderTest | undefined
}

export function openForEachTest(kit: TestKit, makeStore: MakeStore): Subject {
  let current: StoreUnderTest | undefined

  kit.beforeEach(async () => {
    current = await makeStore()
  })
  kit.afterEach(async () => {
    await current?.cleanup()
    current = undefined
  })

  function running(): StoreUnderTest {
    if (current === undefined) throw new Error('no test is running')
    return current
  }

  return {
    kit,
    get store() {
      return running().store
    },
    reopen: () => running().reopen(),
    get cluster() {
      return running().cluster
    },
  }
}
