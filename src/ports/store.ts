/**
 * The port for durable data. A store implements all parts. Each module of the engine depends only
 * on the parts that it uses. Invariants (testing/store-contract.ts):
 *  D1  `commit` is durable when it resolves: what it reports as written survives `kill -9` and power loss;
 *  D2  each commit of a batch is atomic, and a refused or failed one leaves the others of the batch untouched;
 *  D3  a commit is a compare-and-set on the task's version, and its records, row, waits, snapshot, claim and webhooks are
 *      written together;
 *  D4  reads see everything that a resolved `commit` wrote.
 *
 * A task is named by its tenant and its id. The ids of tasks are unique among all tenants; the engine
 * makes sure of that. No row belongs to two tenants, and each call of the hot paths names the tenant of
 * everything that it reads and writes, so a store may be divided by tenant. Only calls without a tenant
 * ask all parts (docs/decisions/0037-tenant-first.md).
 */
import type { AuditStore } from './store/audit.ts'
import type { ClaimStore } from './store/claims.ts'
import type { ClusterStore } from './store/cluster.ts'
import type { EventStore } from './store/events.ts'
import type { HoldStore } from './store/holds.ts'
import type { KeyValueStore } from './store/key-values.ts'
import type { PolicyStore } from './store/policies.ts'
import type { PushStore } from './store/pushes.ts'
import type { SessionStore } from './store/sessions.ts'
import type { TaskStore } from './store/tasks.ts'
import type { UsageStore } from './store/usage.ts'
import type { WorkStore } from './store/work.ts'

export interface Store
  extends TaskStore,
    WorkStore,
    EventStore,
    KeyValueStore,
    HoldStore,
    PolicyStore,
    ClaimStore,
    SessionStore,
    PushStore,
    UsageStore,
    AuditStore {
  /** Present when several processes may use the store at the same time. */
  readonly cluster?: ClusterStore
  /**
   * Performs a small write to check that the store works.
   * @throws LullError `STORE_UNAVAILABLE`
   */
  check(): Promise<void>
  close(): Promise<void>
}

/** The methods of the port. */
export type StoreMethod = Exclude<keyof Store, 'cluster'>

/** The port's methods without promises, for a store that runs on the caller's thread. */
export type Direct<M extends StoreMethod> = {
  readonly [K in M]: (...args: Parameters<Store[K]>) => Awaited<ReturnType<Store[K]>>
}

/**
 * Makes the port's methods from synchronous ones. `guarded` turns results and errors into promises.
 */
export function promising(
  guarded: <A extends readonly unknown[], R>(
    method: (...args: A) => R,
  ) => (...args: A) => Promise<R>,
  methods: Direct<StoreMethod>,
): Omit<Store, 'cluster'> {
  const store = Object.entries<(...args: never[]) => unknown>(methods).map(
    ([name, method]) => [name, guarded(method)] as const,
  )
  return Object.fromEntries(store) as Record<StoreMethod, unknown> as Omit<Store, 'cluster'>
}
