/**
 * The methods of the port on one database connection. They run on the caller's thread.
 */
import { promising, type Store, type StoreMethod } from '../../ports/store.ts'
import { createAudit } from './audit.ts'
import type { ClaimFilter } from './claims/claim-filter.ts'
import { placeOf } from './claims/claim-index.ts'
import { createClaims, encodeClaim } from './claims/claims.ts'
import { createReplies, createSessions } from './contexts.ts'
import { createEvents } from './events.ts'
import { createGuard } from './failures.ts'
import type { Database } from './files/driver.ts'
import { createKeyValues } from './key-values.ts'
import { createHolds, createPolicies } from './policies.ts'
import { createPruning } from './pruning.ts'
import { createPushes } from './pushes.ts'
import { createWrite, type Write } from './tasks/commit.ts'
import { createCounts } from './tasks/counts.ts'
import { encodeCommit } from './tasks/encoded-commit.ts'
import { createLists } from './tasks/lists.ts'
import { createLogs } from './tasks/logs.ts'
import { createWaits } from './tasks/waits.ts'
import { createWorkQueries } from './tasks/work.ts'
import { createTransact, type Transact } from './transaction.ts'
import { createUsage } from './usage.ts'

/**
 * What a method does: `reads`, `writes`, or `asks` for what the writing thread keeps in memory. A
 * method that is not here does not compile.
 */
const access: Readonly<Record<Exclude<StoreMethod, 'close'>, Access>> = {
  load: 'reads',
  row: 'reads',
  records: 'reads',
  list: 'reads',
  count: 'asks',
  removedTask: 'reads',
  openTasks: 'reads',
  ready: 'reads',
  readyAgents: 'reads',
  orphans: 'reads',
  due: 'reads',
  nextDueAt: 'reads',
  waiting: 'reads',
  waitNames: 'reads',
  waitOwners: 'reads',
  events: 'reads',
  eventPositions: 'reads',
  tenantOf: 'reads',
  tenants: 'reads',
  getValue: 'reads',
  holds: 'reads',
  policies: 'reads',
  spent: 'reads',
  findClaim: 'asks',
  contextMessages: 'reads',
  session: 'reads',
  sessions: 'reads',
  pushes: 'reads',
  listPushes: 'reads',
  usage: 'reads',
  space: 'reads',
  audit: 'reads',
  commit: 'writes',
  appendEvents: 'writes',
  setValue: 'writes',
  replaceValue: 'writes',
  putHold: 'writes',
  putPolicy: 'writes',
  removePolicy: 'writes',
  claim: 'writes',
  reply: 'writes',
  putSession: 'writes',
  replaceSession: 'writes',
  putPush: 'writes',
  replacePush: 'writes',
  deletePush: 'writes',
  appendAudit: 'writes',
  pruneAudit: 'writes',
  pruneTasks: 'writes',
  pruneRemovedTasks: 'writes',
  pruneContextMessages: 'writes',
  pruneSessions: 'writes',
  pruneHolds: 'writes',
  pruneEvents: 'writes',
  pruneClaims: 'writes',
  check: 'writes',
}

type Access = 'reads' | 'asks' | 'writes'

export function methodsThat(...does: readonly Access[]): readonly (keyof typeof access)[] {
  const names = Object.keys(access) as readonly (keyof typeof access)[]
  return names.filter((name) => does.includes(access[name]))
}

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
  const { putPush } = pushes
  const write = createWrite(db, transact, { claims, counts, replaceWaits, putPush, spend })
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
      ...createUsage(db),
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

/**
 * Writes a page and removes it. It inserts a row, because an update in place would succeed on a
 * full disk.
 */
function createWriteProbe(db: Database, transact: Transact): () => void {
  const fill = db.prepare('INSERT INTO probe (body) VALUES (zeroblob(16384))')
  const empty = db.prepare('DELETE FROM probe')
  return () =>
    transact(() => {
      fill.run()
      empty.run()
    })
}
