/**
 * A store whose answers arrive late and out of order. Every call waits a random number of event-loop turns before it
 * acts, and again before it answers. A microtask never passes a slow read, so a store that answers within microtasks
 * hides races; this one shows them. For tests only.
 *
 * D1  Writes act in the order in which they were called. Their answers may overtake each other.
 * D2  A read may act before or after a write that is under way, and its answer may be out of date when it arrives.
 * D3  A read called after a write has answered sees that write.
 * D4  The same seed and the same calls give the same delays.
 */
import type { ClusterStore } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'

export interface Delays {
  readonly seed: number
  /** The most event-loop turns of one delay; a call has two. */
  readonly turns: number
}

const reads: ReadonlySet<string | symbol> = new Set<keyof Store>([
  'load',
  'row',
  'records',
  'list',
  'openTasks',
  'removedTask',
  'count',
  'ready',
  'readyAgents',
  'orphans',
  'due',
  'nextDueAt',
  'waiting',
  'waitNames',
  'waitOwners',
  'events',
  'eventPositions',
  'tenantOf',
  'tenants',
  'getValue',
  'holds',
  'findClaim',
  'contextMessages',
  'usage',
  'space',
  'session',
  'sessions',
  'pushes',
  'listPushes',
  'policies',
  'spent',
])
const clusterReads: ReadonlySet<string | symbol> = new Set<keyof ClusterStore>([
  'workers',
  'versions',
  'holdsInEffect',
])
/** Calls that do not wait for the store. */
const immediate: ReadonlySet<string | symbol> = new Set<keyof ClusterStore>(['onChanges', 'report'])

/** Whether the call of this name, of a store or of its shared part, changes nothing. */
export const isRead = (name: string): boolean => reads.has(name) || clusterReads.has(name)

export function createDelayingStore(inner: Store, { seed, turns }: Delays): Store {
  const random = seeded(seed)
  /** Settles when every write called so far has acted. */
  let written: Promise<unknown> = Promise.resolve()

  async function delay(): Promise<void> {
    for (let left = Math.floor(random() * (turns + 1)); left > 0; left--) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function read(call: () => Promise<unknown>): Promise<unknown> {
    await delay()
    try {
      return await call()
    } finally {
      await delay()
    }
  }

  async function write(call: () => Promise<unknown>): Promise<unknown> {
    const acting = Promise.all([written, delay()]).then(call)
    written = acting.catch(() => undefined)
    try {
      return await acting
    } finally {
      await delay()
    }
  }

  function delayed<T extends object>(calls: T, isRead: (name: string | symbol) => boolean): T {
    return new Proxy(calls, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver)
        if (name === 'cluster' && typeof member === 'object' && member !== null) {
          return { ...delayed(member, (one) => clusterReads.has(one)) }
        }
        if (typeof member !== 'function' || immediate.has(name)) return member
        const perform = isRead(name) ? read : write
        return (...args: readonly unknown[]) =>
          perform(async (): Promise<unknown> => Reflect.apply(member, target, args))
      },
    })
  }

  return delayed(inner, (name) => reads.has(name))
}

/** Mulberry32: small, and good enough to spread delays. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * The store as the suites use it: as it is, or behind random delays when `LULL_TEST_STORE=delaying` (the test project
 * `delayed`). `LULL_TEST_SEED` chooses other delays.
 */
export function asTestsWant(inner: Store): Store {
  const { LULL_TEST_STORE, LULL_TEST_SEED = '1' } = process.env
  if (LULL_TEST_STORE !== 'delaying') return inner
  return createDelayingStore(inner, { seed: Number(LULL_TEST_SEED), turns: 5 })
}
