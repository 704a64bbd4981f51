import type { ClusterStore } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'

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

/** The functions of a test runner that the contract uses. Vitest and Jest provide them. */
export interface TestKit {
  readonly describe: (name: string, tests: () => void) => unknown
  readonly it: (name: string, test: () => Promise<void>) => unknown
  readonly expect: Expect
  readonly beforeEach: (run: () => Promise<void>) => unknown
  readonly afterEach: (run: () => Promise<void>) => unknown
}

export interface Expect {
  (value: unknown, what?: string): Matchers
  objectContaining(shape: Record<string, unknown>): unknown
}

export interface Matchers {
  readonly not: Matchers
  readonly rejects: AsyncMatchers
  readonly resolves: AsyncMatchers
  toBe(value: unknown): void
  toBeDefined(): void
  toBeUndefined(): void
  toBeNull(): void
  toBeGreaterThan(value: number): void
  toContain(value: unknown): void
  toEqual(value: unknown): void
  toHaveLength(length: number): void
  toHaveProperty(name: string): void
}

export interface AsyncMatchers {
  toBe(value: unknown): Promise<void>
  toBeUndefined(): Promise<void>
  toEqual(value: unknown): Promise<void>
  toMatchObject(shape: Record<string, unknown>): Promise<void>
}

/** A connection to a shared store, including its cluster part. */
type Process = Store & { readonly cluster: ClusterStore }

function asProcess(store: Store): Process {
  const { cluster } = store
  if (cluster === undefined) throw new Error('the store has no cluster part')
  return { ...store, cluster }
}

/** Two connections to the same data, and the store's clock. */
export async function two(
  subject: Subject,
): Promise<{ a: Process; b: Process; pass: ClusterUnderTest['pass'] }> {
  if (subject.cluster === undefined) throw new Error('the store under test has no cluster part')
  const { connect, pass } = subject.cluster
  return { a: asProcess(subject.store), b: asProcess(await connect()), pass }
}

/**
 * Calls `pruneTasks` with `limit` until it has looked at every task. Returns the number of removed
 * tasks.
 */
export async function pruneTasks(store: Store, statusBefore: number, limit = 99): Promise<number> {
  let total = 0
  let after: string | undefined
  do {
    const step = await store.pruneTasks(statusBefore, 5_000, limit, after)
    total += step.removed
    after = step.after
  } while (after !== undefined)
  return total
}

/**
 * Appends events and marks them as offered to every task. A shared store removes only such events.
 */
export async function appendDispatched(
  store: Pick<Store, 'appendEvents' | 'cluster'>,
  ...append: Parameters<Store['appendEvents']>
): ReturnType<Store['appendEvents']> {
  const stored = await store.appendEvents(...append)
  await store.cluster?.markDispatched(stored.map(({ pos }) => ({ tenant: append[0], pos })))
  return stored
}
