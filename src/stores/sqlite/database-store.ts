import type { AuditStore } from '../../ports/store/audit.ts'
import type { ClaimStore } from '../../ports/store/claims.ts'
import type { EventStore } from '../../ports/store/events.ts'
import type { HoldStore } from '../../ports/store/holds.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { PolicyStore } from '../../ports/store/policies.ts'
import type { PushStore } from '../../ports/store/pushes.ts'
import type { SessionStore } from '../../ports/store/sessions.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import type { UsageStore } from '../../ports/store/usage.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { Store } from '../../ports/store.ts'
import { createApply } from './apply.ts'
import { createAudit } from './audit.ts'
import type { ClaimFilter } from './claim-filter.ts'
import { placeOf } from './claim-key.ts'
import { createClaims, encodeClaim } from './claims.ts'
import { createWrite, type Write } from './commit.ts'
import { createCountUsage } from './count-usage.ts'
import { createCounts } from './counts.ts'
import type { Database } from './driver.ts'
import { encodeCommit } from './encoded-commit.ts'
import { createEvents } from './events.ts'
import { createGuard, type Guard } from './guard.ts'
import { createHolds } from './holds.ts'
import { createKeyValues } from './key-values.ts'
import { createLists } from './lists.ts'
import { createLogs } from './logs.ts'
import { createOpenTasks } from './open-tasks.ts'
import { createPolicies } from './policies.ts'
import { createPruning } from './pruning.ts'
import { createPushes } from './pushes.ts'
import { createRemovedTask } from './removed-task.ts'
import { createReplies } from './replies.ts'
import { createSessions } from './sessions.ts'
import { createTransact } from './transaction.ts'
import { createSpace, createUsage } from './usage.ts'
import { createWaits } from './waits.ts'
import { createWorkQueries } from './work.ts'
import { createWriteProbe } from './write-probe.ts'

/** A store that also takes encoded commits, for the writing thread. */
export interface DatabaseStore extends Store {
  /** Throws when a read or write has found the file damaged. Only a restart of the process clears this. */
  checkUndamaged(): void
  write(...commits: Parameters<Write>): Promise<ReturnType<Write>>
}

/** Creates a store on an open, migrated database. The store closes the database, and then calls `closed`. */
export function createDatabaseStore(
  db: Database,
  closed: () => void,
  filter?: ClaimFilter,
): DatabaseStore {
  const { guarded, checkUndamaged } = createGuard()
  const tables = createTables(db)
  const { transact, counts, claims } = tables
  const apply = createApply(db, tables)
  const write = createWrite(db, transact, apply, counts, claims, createCountUsage(db))
  const probe = createWriteProbe(db, transact)
  let open = true

  return {
    commit: guarded((batch) => write(batch.map((commit) => encodeCommit(commit, filter)))),
    write: guarded(write),
    ...taskMethods(db, tables, guarded),
    ...workMethods(tables, guarded),
    ...eventMethods(tables, guarded),
    ...holdMethods(tables, guarded),
    ...policyMethods(tables, guarded),
    ...claimMethods(tables, guarded, filter),
    ...sessionMethods(tables, guarded),
    ...pushMethods(tables, guarded),
    ...usageMethods(db, guarded),
    ...auditMethods(tables, guarded),
    check: guarded(() => {
      checkUndamaged()
      probe()
    }),
    checkUndamaged,
    close: guarded(() => {
      if (!open) return
      open = false
      filter?.close()
      closeDatabase(db)
      closed()
    }),
  }
}

/** The queries of each table or group of tables. */
function createTables(db: Database) {
  const claims = createClaims(db)
  const transact = createTransact(db, claims.forget)
  const counts = createCounts(db)
  const waits = createWaits(db)
  return {
    claims,
    transact,
    counts,
    waits,
    work: createWorkQueries(db),
    events: createEvents(db, transact),
    values: createKeyValues(db, transact),
    holds: createHolds(db),
    lists: createLists(db, counts),
    logs: createLogs(db),
    policies: createPolicies(db, transact),
    pushes: createPushes(db),
    replies: createReplies(db, transact, claims),
    sessions: createSessions(db, transact),
    audit: createAudit(db, transact),
    pruning: createPruning(db, transact, waits),
  }
}

type Tables = ReturnType<typeof createTables>
type Guarded = Guard['guarded']

function taskMethods(
  db: Database,
  { logs, lists, counts, pruning }: Tables,
  guarded: Guarded,
): Omit<TaskStore, 'commit'> {
  return {
    load: guarded(logs.load),
    row: guarded(lists.row),
    records: guarded(logs.records),
    list: guarded(lists.list),
    count: guarded(lists.count),
    openTasks: guarded(createOpenTasks(db)),
    pruneTasks: guarded((...args) => {
      const pruned = pruning.tasks(...args)
      if (pruned.removed > 0) counts.forget()
      return pruned
    }),
    removedTask: guarded(createRemovedTask(db)),
    pruneRemovedTasks: guarded(pruning.removedTasks),
  }
}

function workMethods({ work, waits }: Tables, guarded: Guarded): WorkStore {
  return {
    ready: guarded(work.ready),
    readyAgents: guarded(work.readyAgents),
    orphans: guarded(work.orphans),
    due: guarded(work.due),
    nextDueAt: guarded(work.nextDueAt),
    waiting: guarded(waits.find),
    waitNames: guarded(waits.names),
    waitOwners: guarded(waits.owners),
  }
}

function eventMethods(
  { events, values, pruning }: Tables,
  guarded: Guarded,
): EventStore & KeyValueStore {
  return {
    appendEvents: guarded(events.append),
    events: guarded(events.after),
    lastEventPos: guarded(events.lastPos),
    pruneEvents: guarded(pruning.events),
    getValue: guarded(values.get),
    setValue: guarded(values.set),
    replaceValue: guarded(values.replace),
  }
}

function holdMethods({ holds, pruning }: Tables, guarded: Guarded): HoldStore {
  return {
    putHold: guarded(holds.put),
    holds: guarded(holds.list),
    pruneHolds: guarded(pruning.holds),
  }
}

function policyMethods({ policies }: Tables, guarded: Guarded): PolicyStore {
  return {
    policies: guarded(policies.list),
    putPolicy: guarded(policies.put),
    removePolicy: guarded(policies.remove),
    spent: guarded(policies.spent),
  }
}

function claimMethods(
  { transact, claims, replies, pruning }: Tables,
  guarded: Guarded,
  filter: ClaimFilter | undefined,
): ClaimStore {
  return {
    findClaim: guarded((key) =>
      filter?.has(key) === false ? undefined : claims.find(placeOf(key)),
    ),
    claim: guarded((claim) => {
      const encoded = encodeClaim(claim, filter)
      return transact(() => claims.take(encoded)) ?? claim
    }),
    reply: guarded((claim, messages) =>
      replies.reply(claim && encodeClaim(claim, filter), messages),
    ),
    contextMessages: guarded(replies.messages),
    pruneContextMessages: guarded(pruning.contextMessages),
    pruneClaims: guarded(pruning.claims),
  }
}

function sessionMethods({ sessions, pruning }: Tables, guarded: Guarded): SessionStore {
  return {
    putSession: guarded(sessions.put),
    replaceSession: guarded(sessions.replace),
    session: guarded(sessions.get),
    sessions: guarded(sessions.list),
    pruneSessions: guarded(pruning.sessions),
  }
}

function pushMethods({ pushes }: Tables, guarded: Guarded): PushStore {
  return {
    putPush: guarded(pushes.put),
    replacePush: guarded(pushes.replace),
    pushes: guarded(pushes.of),
    deletePush: guarded(pushes.delete),
    listPushes: guarded(pushes.list),
  }
}

function usageMethods(db: Database, guarded: Guarded): UsageStore {
  return { usage: guarded(createUsage(db)), space: guarded(createSpace(db)) }
}

function auditMethods({ audit }: Tables, guarded: Guarded): AuditStore {
  return {
    appendAudit: guarded(audit.append),
    audit: guarded(audit.list),
    pruneAudit: guarded(audit.prune),
  }
}

function closeDatabase(db: Database): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Pages that stay in the write-ahead log are durable too, and are read from there at the next start.
  }
  db.close()
}
