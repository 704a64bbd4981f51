/** Retention. Each call looks at a bounded number of rows, so that it holds locks only shortly. */
import { isTerminal, type State, states } from '../../core/states.ts'
import type { PruneResult } from '../../ports/store/pruning.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import { toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database } from './connection/database.ts'
import { selectedColumns, tasksIn, toTaskRow } from './tasks/rows.ts'

type Pruning = Pick<
  Store,
  | 'pruneTasks'
  | 'removedTask'
  | 'pruneRemovedTasks'
  | 'pruneContextMessages'
  | 'pruneSessions'
  | 'pruneHolds'
  | 'pruneEvents'
  | 'pruneClaims'
>

export function createPruning(db: Database): Pruning {
  const s = db.schema
  const oldest =
    (table: string, key: string, column: string) =>
    async (before: number, limit: number): Promise<number> => {
      const rows = await db.write(
        `DELETE FROM ${s}.${table} WHERE (${key}) IN
           (SELECT ${key} FROM ${s}.${table} WHERE ${column} < $1 ORDER BY ${column} LIMIT $2)
         RETURNING 1`,
        [before, limit],
      )
      return rows.length
    }
  return {
    ...createPruneTasks(db),
    ...createPruneContexts(db),
    pruneRemovedTasks: oldest('removed_tasks', 'id', 'removed_at'),
    pruneHolds: oldest('holds', 'pos', 'lifted_at'),
    async pruneEvents(before, limit) {
      const rows = await db.write(
        `DELETE FROM ${s}.events WHERE pos IN
           (SELECT pos FROM ${s}.events e WHERE received_at < $1
              AND NOT EXISTS (SELECT FROM ${s}.undispatched_events u WHERE u.pos = e.pos)
            ORDER BY received_at LIMIT $2)
         RETURNING 1`,
        [before, limit],
      )
      return rows.length
    },
    pruneClaims: oldest('claims', 'tenant, principal, agent, key', 'created_at'),
  }
}

/** The last task that was looked at. */
type Cursor = readonly [state: State, statusAt: number, id: string]

const terminal: readonly State[] = states.filter(isTerminal)

/** Ended tasks, oldest first, one terminal state after the other. Tasks that are still needed are skipped. */
function createPruneTasks(db: Database): Pick<Store, 'pruneTasks' | 'removedTask'> {
  const s = db.schema
  return {
    async pruneTasks(statusBefore, removedAt, limit, after) {
      const [from, statusAt, id]: Cursor =
        after === undefined ? firstOf(terminal[0]) : (JSON.parse(after) as Cursor)
      const rows = await db.read(
        `SELECT ${selectedColumns} FROM ${tasksIn(s)}
         WHERE t.state = $1 AND (t.status_at, t.id) > ($2, $3) AND t.status_at < $4
         ORDER BY t.status_at, t.id LIMIT $5`,
        [from, statusAt, toText(id), statusBefore, limit],
      )
      const old = rows.map(toTaskRow)
      const removed = old.length === 0 ? 0 : await remove(old, removedAt)
      const last = old.at(-1)
      const next: Cursor | undefined =
        last !== undefined && old.length === limit
          ? [from, last.statusAt, last.id]
          : stateAfter(from)
      return next === undefined ? { removed } : { removed, after: JSON.stringify(next) }
    },
    async removedTask(taskId) {
      const [row] = await db.read(`SELECT body FROM ${s}.removed_tasks WHERE id = $1`, [
        toText(taskId),
      ])
      return row && (JSON.parse(String(row['body'])) as TaskRow)
    },
  }

  async function remove(old: readonly TaskRow[], removedAt: number): Promise<number> {
    const [row] = await db.write(`SELECT ${s}.remove_tasks_1($1, $2, $3) AS n`, [
      old.map((task) => toText(task.id)),
      old.map((task) => JSON.stringify(task)),
      removedAt,
    ])
    return Number(row?.['n'])
  }
}

function stateAfter(state: State): Cursor | undefined {
  const next = terminal[terminal.indexOf(state) + 1]
  return next && firstOf(next)
}

function firstOf(state: State = 'completed'): Cursor {
  return [state, Number.MIN_SAFE_INTEGER, '']
}

/** Prunes messages and sessions of contexts without an open task. */
function createPruneContexts(db: Database): Pick<Store, 'pruneContextMessages' | 'pruneSessions'> {
  const s = db.schema
  return {
    // Messages are nearly ordered by age, so a page without an old one is the last.
    async pruneContextMessages(before, limit, after = '0'): Promise<PruneResult> {
      const rows = await db.write(
        `WITH page AS (SELECT * FROM ${s}.context_messages WHERE pos > $1 ORDER BY pos LIMIT $2),
         gone AS (DELETE FROM ${s}.context_messages m USING page
                  WHERE m.pos = page.pos AND page.at < $3
                    AND NOT ${s}.is_open_1(page.tenant, page.principal, page.context_id)
                  RETURNING m.pos)
         SELECT count(*) AS seen, max(page.pos) AS last, count(gone.pos) AS removed,
           count(*) FILTER (WHERE page.at < $3) AS old
         FROM page LEFT JOIN gone ON gone.pos = page.pos`,
        [after, limit, before],
      )
      const [{ seen, last, removed, old } = {}] = rows
      const isLast = Number(seen) < limit || Number(old) === 0
      return { removed: Number(removed), ...(isLast ? {} : { after: String(last) }) }
    },
    async pruneSessions(before, limit, after = '["","",""]'): Promise<PruneResult> {
      const rows = await db.write(
        `WITH page AS (SELECT tenant, principal, id FROM ${s}.sessions
                       WHERE (tenant, principal, id) > ($1, $2, $3)
                       ORDER BY tenant, principal, id LIMIT $4),
         gone AS (DELETE FROM ${s}.sessions x USING page
                  WHERE (x.tenant, x.principal, x.id) = (page.tenant, page.principal, page.id)
                    AND x.updated_at < $5
                    AND NOT ${s}.is_open_1(page.tenant, page.principal, page.id)
                  RETURNING x.tenant, x.principal, x.id)
         SELECT page.tenant, page.principal, page.id, gone.id IS NOT NULL AS removed
         FROM page LEFT JOIN gone USING (tenant, principal, id)
         ORDER BY page.tenant, page.principal, page.id`,
        [...(JSON.parse(after) as readonly string[]), limit, before],
      )
      const last = rows.at(-1)
      const removed = rows.filter((row) => row['removed'] === true).length
      if (last === undefined || rows.length < limit) return { removed }
      return { removed, after: JSON.stringify([last['tenant'], last['principal'], last['id']]) }
    },
  }
}
