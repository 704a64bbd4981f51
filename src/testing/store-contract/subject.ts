import { afterEach, beforeEach, type TestContext } from 'vitest'
import type { TaskStore } from '../../ports/task-store.ts'

/** A store nobody else uses. */
export interface StoreUnderTest {
  readonly store: TaskStore
  /** Closes the store and opens it again on what it kept. Left out by stores that keep nothing. */
  readonly reopen?: () => Promise<TaskStore>
  readonly cleanup: () => Promise<void>
}

export type MakeStore = () => Promise<StoreUnderTest>

export interface Subject {
  /** The store of the running test. */
  readonly store: TaskStore
  /** Skips the test where a store keeps nothing. */
  readonly reopen: (context: TestContext) => Promise<TaskStore>
}

export function openForEachTest(makeStore: MakeStore): Subject {
  let current: StoreUnderTest | undefined

  beforeEach(async () => {
    current = await makeStore()
  })
  afterEach(async () => {
    await current?.cleanup()
    current = undefined
  })

  return {
    get store() {
      if (current === undefined) throw new Error('no test is running')
      return current.store
    },
    reopen: (context) => current?.reopen?.() ?? context.skip('it keeps nothing'),
  }
}
