/**
 * Where everything durable lives. A store implements all parts; each part of the engine asks for the parts it uses. Every
 * promise below is a case of `testing/store-contract.ts`.
 *
 * 1. `commit` is durable when it resolves: what it reports as written survives `kill -9` and power loss.
 * 2. Each commit of a batch is atomic and stands alone: a refused or failing one leaves its neighbours untouched.
 * 3. A commit is a compare-and-set on the task's version; records, row, waits, snapshot, claim and webhooks move together.
 * 4. Reads see everything a resolved `commit` wrote.
 * 5. Only single-task transactions are asked for, so that a store may be partitioned by task id.
 */
import type { ClaimStore } from './store/claims.ts'
import type { EventStore } from './store/events.ts'
import type { HoldStore } from './store/holds.ts'
import type { KeyValueStore } from './store/key-values.ts'
import type { PushStore } from './store/pushes.ts'
import type { SessionStore } from './store/sessions.ts'
import type { TaskStore } from './store/tasks.ts'
import type { WorkStore } from './store/work.ts'

export interface Store
  extends TaskStore,
    WorkStore,
    EventStore,
    KeyValueStore,
    HoldStore,
    ClaimStore,
    SessionStore,
    PushStore {
  /** Resolves when a small write worked. @throws LullError `STORE_UNAVAILABLE` */
  check(): Promise<void>
  close(): Promise<void>
}
