import { promising, type Store } from '../../ports/store.ts'
import { createAudit } from './audit.ts'
import type { ClaimFilter } from './claims/claim-filter.ts'
import { placeOf } from './claims/claim-key.ts'
import { createClaims, encodeClaim } from './claims/claims.ts'
import { createReplies } from './claims/replies.ts'
import { createEvents } from './events.ts'
import type { Database } from './files/driver.ts'
import { createWriteProbe } from './files/write-probe.ts'
import { createGuard } from './guard.ts'
import { createHolds } from './holds.ts'
import { createKeyValues } from './key-values.ts'
import { createPolicies } from './policies.ts'
import { createPruning } from './pruning/pruning.ts'
import { createPushes } from './pushes.ts'
import { createSessions } from './sessions.ts'
import { createApply } from './tasks/apply.ts'
import { createWrite, type Write } from './tasks/commit.ts'
import { createCountUsage } from './tasks/count-usage.ts'
import { createCounts } from './tasks/counts.ts'
import { encodeCommit } from './tasks/encoded-commit.ts'
import { createLists } from './tasks/lists.ts'
import { createLogs } from './tasks/logs.ts'
import { createOpenTasks } from './tasks/open-tasks.ts'
import { createRemovedTask } from './tasks/removed-task.ts'
import { createWaits } from './tasks/waits.ts'
import { createWorkQueries } from './tasks/work.ts'
import { createTransact } from './transaction.ts'
import { createSpace, createUsage } from './usage.ts'

/** A store that also takes encoded commits, for the writing thread. */
export interface DatabaseStore extends Store {
  /**
   * Throws if a read or write has found the file damaged. Only a restart of the process resets
   * this.
   */
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
  const claims = createClaims(db)
  const transact = createTransact(db, claims.forget)
  const counts = createCounts(db)
  const { replaceWaits, ...waits } = createWaits(db)
  const { spend, ...policies } = createPolicies(db, transact)
  const { reply, ...messages } = createReplies(db, transact, claims)
  const { pruneTasks, ...pruning } = createPruning(db, transact, replaceWaits)
  const pushes = createPushes(db)
  const apply = createApply(db, { claims, replaceWaits, putPush: pushes.putPush, spend })
  const write = createWrite(db, transact, apply, counts, claims, createCountUsage(db))
  const probe = createWriteProbe(db, transact)
  let open = true

  return {
    ...promising(guarded, {
      ...createLogs(db),
      ...createLists(db, counts),
      ...createWorkQueries(db),
      ...waits,
      ...createEvents(db, transact),
      ...createKeyValues(db, transact),
      ...createHolds(db),
      ...policies,
      ...messages,
      ...createSessions(db, transact),
      ...pushes,
      ...createAudit(db, transact),
      ...pruning,
      commit: (batch) => write(batch.map((commit) => encodeCommit(commit, filter))),
      openTasks: createOpenTasks(db),
      removedTask: createRemovedTask(db),
      usage: createUsage(db),
      space: createSpace(db),
      pruneTasks(...args) {
        const pruned = pruneTasks(...args)
        if (pruned.removed > 0) counts.forget()
        return pruned
      },
      findClaim: (key) => (filter?.has(key) === false ? undefined : claims.find(placeOf(key))),
      claim(claim) {
        const encoded = encodeClaim(claim, filter)
        return transact(() => claims.take(encoded)) ?? claim
      },
      reply: (claim, given) => reply(claim && encodeClaim(claim, filter), given),
      check() {
        checkUndamaged()
        probe()
      },
      close() {
        if (!open) return
        open = false
        filter?.close()
        closeDatabase(db)
        closed()
      },
    }),
    write: guarded(write),
    checkUndamaged,
  }
}

function closeDatabase(db: Database): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // If this fails, nothing is lost: pages in the write-ahead log are durable too, and are read
    // from it at the next start.
  }
  db.close()
}
