/** Retention. Each call removes at most `limit` rows in one transaction, so that it does not block for long. */
import type { Direct } from '../../../ports/store.ts'
import { RUN } from '../claims/claim-index.ts'
import type { Database, Statement } from '../files/driver.ts'
import type { Waits } from '../tasks/waits.ts'
import type { Transact } from '../transaction.ts'
import { createPruneMessages, createPruneSessions } from './prune-contexts.ts'
import { createPruneTasks } from './prune-tasks.ts'

export type Pruning = Direct<
  | 'pruneTasks'
  | 'pruneRemovedTasks'
  | 'pruneContextMessages'
  | 'pruneSessions'
  | 'pruneHolds'
  | 'pruneEvents'
  | 'pruneClaims'
>

/** Claims per read. */
const SLICE = 500
/** A call ends after this many slices in a row without an old claim. */
const IDLE_SLICES = 8

export function createPruning(
  db: Database,
  transact: Transact,
  replaceWaits: Waits['replaceWaits'],
): Pruning {
  const oldest = (table: string, key: string, column: string) =>
    db.prepare(
      `DELETE FROM ${table} WHERE ${key} IN
       (SELECT ${key} FROM ${table} WHERE ${column} < ? ORDER BY ${column} LIMIT ?)`,
    )
  const events = oldest('events', 'pos', 'received_at')
  const holds = oldest('holds', 'pos', 'lifted_at')
  const removedTasks = oldest('removed_tasks', 'id', 'removed_at')
  const tasks = createPruneTasks(db, replaceWaits)
  const messages = createPruneMessages(db)
  const sessions = createPruneSessions(db)
  const claims = createPruneClaims(db)
  const changed = (statement: Statement, before: number, limit: number): number =>
    Number(statement.run(before, limit).changes)

  return {
    pruneTasks: (...args) => transact(() => tasks(...args)),
    pruneRemovedTasks: (before, limit) => changed(removedTasks, before, limit),
    pruneContextMessages: (...args) => transact(() => messages(...args)),
    pruneSessions: (...args) => transact(() => sessions(...args)),
    pruneHolds: (before, limit) => changed(holds, before, limit),
    pruneEvents: (before, limit) => changed(events, before, limit),
    pruneClaims: (before, limit) => transact(() => claims(before, limit)),
  }
}

/**
 * Prunes claims. They are in the order of arrival, which is nearly the order of their age, so they
 * are read from the first on until no old ones follow. If the clock was ahead for a while, claims
 * that look new precede older ones. Each call therefore also reads a few slices further on,
 * starting where the previous call ended.
 */
function createPruneClaims(db: Database): Pruning['pruneClaims'] {
  const next = db.prepare('SELECT pos, created_at FROM claims WHERE pos > ? ORDER BY pos LIMIT ?')
  const remove = db.prepare('DELETE FROM claims WHERE pos = ?')
  const dropRuns = db.prepare(
    `DELETE FROM claim_places WHERE run < (SELECT min(pos) FROM claims) / ${RUN}`,
  )
  /** Where the second read of the previous call ended. */
  let cursor = 0

  /**
   * Removes old claims after `start`, until `maxIdle` slices in a row had none. Returns 0 as
   * `after` at the end of the table.
   */
  function pruneFrom(
    start: number,
    createdBefore: number,
    limit: number,
    maxIdle: number,
  ): { readonly removed: number; readonly after: number } {
    let after = start
    let removed = 0
    for (let idle = 0; idle < maxIdle && removed < limit; idle++) {
      const rows = next.all(after, SLICE)
      for (const { pos = null, created_at: at } of rows) {
        if (removed === limit) return { removed, after }
        after = Number(pos)
        if (Number(at) >= createdBefore) continue
        remove.run(pos)
        removed++
        idle = -1
      }
      if (rows.length < SLICE) return { removed, after: 0 }
    }
    return { removed, after }
  }

  return (createdBefore, limit) => {
    const oldest = pruneFrom(0, createdBefore, limit, 1)
    const others = pruneFrom(cursor, createdBefore, limit - oldest.removed, IDLE_SLICES)
    cursor = others.after
    const removed = oldest.removed + others.removed
    if (removed > 0) dropRuns.run()
    return removed
  }
}
