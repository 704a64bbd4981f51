/** Retention. Each call removes at most `limit` rows in one transaction, so that it does not block for long. */

import { isTerminal, type State, states } from '../../core/states.ts'
import type { PruneResult } from '../../ports/store/pruning.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import { toText } from '../../ports/store/text.ts'
import type { Direct } from '../../ports/store.ts'
import { RUN } from './claims/claim-index.ts'
import type { Database, Row } from './files/driver.ts'
import { hasOpenTask } from './tasks/lists.ts'
import { toTaskRow } from './tasks/task-columns.ts'
import type { Waits } from './tasks/waits.ts'
import type { Transact } from './transaction.ts'

export type Pruning = Direct<
  | 'pruneTasks'
  | 'removedTask'
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
  const removeOldest = (table: string, key: string, column: string) => {
    const remove = db.prepare(
      `DELETE FROM ${table} WHERE ${key} IN
       (SELECT ${key} FROM ${table} WHERE ${column} < ? ORDER BY ${column} LIMIT ?)`,
    )
    return (before: number, limit: number): number => Number(remove.run(before, limit).changes)
  }
  const tasks = createPruneTasks(db, replaceWaits)
  const messages = createPruneMessages(db)
  const sessions = createPruneSessions(db)
  const claims = createPruneClaims(db)
  const removed = db.prepare('SELECT body FROM removed_tasks WHERE id = ?')

  return {
    pruneTasks: (...args) => transact(() => tasks(...args)),
    removedTask(tenant, taskId) {
      const found = removed.get(toText(taskId))
      const row = found && (JSON.parse(String(found['body'])) as TaskRow)
      return row?.tenant === tenant ? row : undefined
    },
    pruneRemovedTasks: removeOldest('removed_tasks', 'id', 'removed_at'),
    pruneContextMessages: (...args) => transact(() => messages(...args)),
    pruneSessions: (...args) => transact(() => sessions(...args)),
    pruneHolds: removeOldest('holds', 'pos', 'lifted_at'),
    pruneEvents: removeOldest('events', 'pos', 'received_at'),
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

/** The last task that was looked at. */
type Cursor = readonly [state: State, statusAt: number, id: string]

const terminal: readonly State[] = states.filter(isTerminal)

/** Removes ended tasks, oldest first, one terminal state after the other. Tasks that are still needed are skipped. */
function createPruneTasks(
  db: Database,
  replaceWaits: Waits['replaceWaits'],
): Pruning['pruneTasks'] {
  const ended = db.prepare(
    `SELECT *, ${hasOpenTask('tasks.tenant', 'tasks.principal', 'tasks.context_id')}
       OR EXISTS (SELECT 1 FROM pushes WHERE task_id = tasks.id AND status <> 'done') AS needed
     FROM tasks INDEXED BY tasks_by_state
     WHERE state = ? AND (status_at, id) > (?, ?) AND status_at < ?
     ORDER BY status_at, id LIMIT ?`,
  )
  const remember = db.prepare(
    'INSERT OR REPLACE INTO removed_tasks (id, removed_at, body) VALUES (?, ?, ?)',
  )
  const removals = [
    db.prepare('DELETE FROM records WHERE pos = ? AND task IS NULL'),
    db.prepare('DELETE FROM records WHERE task = ?'),
    db.prepare('DELETE FROM snapshots WHERE task = ?'),
    db.prepare('DELETE FROM tasks WHERE num = ?'),
  ]
  const pushes = db.prepare('DELETE FROM pushes WHERE task_id = ?')

  function remove(task: Row, removedAt: number): void {
    const { num = null, id, tenant, waits: names = null } = task
    remember.run(String(id), removedAt, JSON.stringify(toTaskRow(task)))
    replaceWaits(String(tenant), String(id), names as string | null, null)
    for (const removal of removals) removal.run(num)
    pushes.run(String(id))
  }

  return (statusBefore, removedAt, limit, after) => {
    const [from, statusAt, id]: Cursor =
      after === undefined ? firstOf(terminal[0]) : (JSON.parse(after) as Cursor)
    const old = ended.all(from, statusAt, id, statusBefore, limit)
    const unneeded = old.filter((task) => task['needed'] === 0)
    for (const task of unneeded) remove(task, removedAt)
    const last = old.at(-1)
    const next: Cursor | undefined =
      last !== undefined && old.length === limit
        ? [from, Number(last['status_at']), String(last['id'])]
        : stateAfter(from)
    const removed = unneeded.length
    return next === undefined ? { removed } : { removed, after: JSON.stringify(next) }
  }
}

function stateAfter(state: State): Cursor | undefined {
  const next = terminal[terminal.indexOf(state) + 1]
  return next && firstOf(next)
}

function firstOf(state: State = 'completed'): Cursor {
  return [state, Number.MIN_SAFE_INTEGER, '']
}

/** Removes what belongs to contexts without an open task. */
type Prune = (before: number, limit: number, after?: string) => PruneResult

/** Prunes messages. They are ordered by age, so a page without an old one is the last. */
function createPruneMessages(db: Database): Prune {
  const next = db.prepare(
    `SELECT pos, at, ${hasOpenTask('m.tenant', 'm.principal', 'm.context_id')} AS needed
     FROM context_messages AS m WHERE pos > ? ORDER BY pos LIMIT ?`,
  )
  const remove = db.prepare('DELETE FROM context_messages WHERE pos = ?')
  return (before, limit, after = '0') => {
    const rows = next.all(Number(after), limit)
    const old = rows.filter((row) => Number(row['at']) < before)
    const unneeded = old.filter((row) => row['needed'] === 0)
    for (const { pos = null } of unneeded) remove.run(pos)
    const last = rows.at(-1)
    const removed = unneeded.length
    const isLast = rows.length < limit || old.length === 0
    return isLast ? { removed } : { removed, after: String(last?.['pos']) }
  }
}

function createPruneSessions(db: Database): Prune {
  const next = db.prepare(
    `SELECT tenant, principal, id, updated_at,
       ${hasOpenTask('s.tenant', 's.principal', 's.id')} AS needed
     FROM sessions AS s WHERE (tenant, principal, id) > (?, ?, ?)
     ORDER BY tenant, principal, id LIMIT ?`,
  )
  const remove = db.prepare('DELETE FROM sessions WHERE tenant = ? AND principal = ? AND id = ?')
  return (before, limit, after = '["","",""]') => {
    const from = JSON.parse(after) as readonly [string, string, string]
    const keys = next.all(...from, limit).map((row) => ({
      key: [String(row['tenant']), String(row['principal']), String(row['id'])] as const,
      unneeded: row['needed'] === 0 && Number(row['updated_at']) < before,
    }))
    const removed = keys.filter(({ unneeded }) => unneeded)
    for (const { key } of removed) remove.run(...key)
    const last = keys.at(-1)
    return {
      removed: removed.length,
      ...(last === undefined || keys.length < limit ? {} : { after: JSON.stringify(last.key) }),
    }
  }
}
