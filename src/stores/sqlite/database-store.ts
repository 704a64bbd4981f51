import type { Store } from '../../ports/store.ts'
import { createApply } from './apply.ts'
import type { ClaimFilter } from './claim-filter.ts'
import { placeOf } from './claim-key.ts'
import { createClaims, encodeClaim } from './claims.ts'
import { createWrite, type Write } from './commit.ts'
import { createCounts } from './counts.ts'
import type { Database } from './driver.ts'
import { encodeCommit } from './encoded-commit.ts'
import { createEvents } from './events.ts'
import { isUnreadable, toStoreError } from './failures.ts'
import { createHolds } from './holds.ts'
import { createKeyValues } from './key-values.ts'
import { createLists } from './lists.ts'
import { createLogs } from './logs.ts'
import { createOpenTasks } from './open-tasks.ts'
import { createPruning } from './pruning.ts'
import { createPushes } from './pushes.ts'
import { createRemovedTask } from './removed-task.ts'
import { createReplies } from './replies.ts'
import { createSessions } from './sessions.ts'
import { createTransact } from './transaction.ts'
import { createWaits } from './waits.ts'
import { createWorkQueries } from './work.ts'

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
  const claims = createClaims(db)
  const transact = createTransact(db, claims.forget)
  const work = createWorkQueries(db)
  const events = createEvents(db, transact)
  const values = createKeyValues(db)
  const holds = createHolds(db)
  const counts = createCounts(db)
  const lists = createLists(db, counts)
  const logs = createLogs(db)
  const pushes = createPushes(db)
  const replies = createReplies(db, transact, claims)
  const sessions = createSessions(db)
  const waits = createWaits(db)
  const pruning = createPruning(db, transact, waits)
  // Inserts, because an update in place would succeed on a full disk.
  const fill = db.prepare('INSERT INTO probe (body) VALUES (zeroblob(16384))')
  const empty = db.prepare('DELETE FROM probe')
  const write = createWrite(db, transact, createApply(db, claims, waits, pushes), counts, claims)
  let open = true
  let damage: unknown

  /** Converts driver errors to `STORE_UNAVAILABLE`, and every error to a rejection. */
  function guarded<A extends readonly unknown[], R>(
    method: (...args: A) => R,
  ): (...args: A) => Promise<R> {
    return async (...args) => {
      try {
        return method(...args)
      } catch (error) {
        const failure = toStoreError(error)
        if (isUnreadable(error)) damage = failure
        throw failure
      }
    }
  }

  function checkUndamaged(): void {
    if (damage !== undefined) throw damage
  }

  return {
    commit: guarded((batch) => write(batch.map((commit) => encodeCommit(commit, filter)))),
    write: guarded(write),
    load: guarded(logs.load),
    row: guarded(lists.row),
    records: guarded(logs.records),
    list: guarded(lists.list),
    count: guarded(lists.count),
    openTasks: guarded(createOpenTasks(db)),
    ready: guarded(work.ready),
    readyAgents: guarded(work.readyAgents),
    orphans: guarded(work.orphans),
    due: guarded(work.due),
    nextDueAt: guarded(work.nextDueAt),
    waiting: guarded(waits.find),
    waitNames: guarded(waits.names),
    appendEvents: guarded(events.append),
    events: guarded(events.after),
    lastEventPos: guarded(events.lastPos),
    getValue: guarded(values.get),
    setValue: guarded(values.set),
    putHold: guarded(holds.put),
    holds: guarded(holds.list),
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
    putSession: guarded(sessions.put),
    session: guarded(sessions.get),
    sessions: guarded(sessions.list),
    putPush: guarded(pushes.put),
    pushes: guarded(pushes.of),
    deletePush: guarded(pushes.delete),
    listPushes: guarded(pushes.list),
    pruneTasks: guarded((...args) => {
      const pruned = pruning.tasks(...args)
      if (pruned.removed > 0) counts.forget()
      return pruned
    }),
    removedTask: guarded(createRemovedTask(db)),
    pruneRemovedTasks: guarded(pruning.removedTasks),
    pruneContextMessages: guarded(pruning.contextMessages),
    pruneSessions: guarded(pruning.sessions),
    pruneHolds: guarded(pruning.holds),
    pruneEvents: guarded(pruning.events),
    pruneClaims: guarded(pruning.claims),
    check: guarded(() => {
      checkUndamaged()
      transact(() => {
        fill.run()
        empty.run()
      })
    }),
    checkUndamaged,
    close: guarded(() => {
      if (!open) return
      open = false
      filter?.close()
      try {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // Pages that stay in the write-ahead log are durable too, and are read from there at the next start.
      }
      db.close()
      closed()
    }),
  }
}
