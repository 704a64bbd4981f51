/** Retention. Each call looks at a bounded number of rows, so that it holds locks only shortly. */
import { isTerminal, type State, states } from '../../core/states.ts'
import type { PruneResult } from '../../ports/store/pruning.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import { toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database, Value } from './connection/database.ts'
import { tenantsIn } from './tasks/lists.ts'
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
  /** Removes old rows, nearly in the order of their age: a table is read from its beginning, and so is a BRIN index. */
  const some =
    (table: string, key: string, column: string) =>
    async (before: number, limit: number): Promise<number> => {
      const rows = await db.write(
        `DELETE FROM ${s}.${table} WHERE (${key}) IN
           (SELECT ${key} FROM ${s}.${table} WHERE ${column} < $1 LIMIT $2)
         RETURNING 1`,
        [before, limit],
      )
      return rows.length
    }
  return {
    ...createPruneTasks(db),
    ...createPruneContexts(db),
    pruneRemovedTasks: some('removed_tasks', 'tenant, id', 'removed_at'),
    pruneHolds: some('holds', 'pos', 'lifted_at'),
    async pruneEvents(before, limit) {
      const [row] = await db.write(
        `WITH old AS (
           SELECT e.tenant, e.pos FROM ${s}.events e WHERE e.received_at < $1 AND NOT EXISTS (
             SELECT FROM ${s}.undispatched_events u WHERE u.tenant = e.tenant AND u.pos = e.pos)
           LIMIT $2),
         gone AS (
           DELETE FROM ${s}.events e USING old WHERE e.tenant = old.tenant AND e.pos = old.pos
           RETURNING e.tenant, octet_length(e.body) AS bytes)
         ${counted(s, "''::text")}`,
        [before, limit],
      )
      return Number(row?.['removed'])
    },
    pruneClaims: some('claims', 'tenant, principal, agent, key', 'created_at'),
  }
}

/** Takes the bytes of the rows in \`gone\` off what is stored, and selects how many rows there are. */
function counted(s: string, principal: string): string {
  return `SELECT count(*) AS removed, CASE WHEN count(*) > 0 THEN ${s}.count_1(
      array_agg(tenant), array_agg(${principal}), array_agg(''::text), array_agg(-bytes::bigint),
      array_agg(NULL::text), array_agg(NULL::text)) END AS counted FROM gone`
}

/** The last task that was looked at. */
type Cursor = readonly [tenant: string, state: State, statusAt: number, id: string]

const terminal: readonly State[] = states.filter(isTerminal)

/**
 * Ended tasks: those of one tenant after those of another, one terminal state after the other, oldest
 * first. Tasks that are still needed are skipped.
 */
function createPruneTasks(db: Database): Pick<Store, 'pruneTasks' | 'removedTask'> {
  const s = db.schema

  /** The first place at or after the cursor that has an old task. */
  async function firstOld([tenant, state]: Cursor, before: number): Promise<Cursor | undefined> {
    const [row] = await db.read(
      `WITH RECURSIVE ${tenantsIn(s, '>= $1')}
       SELECT tenants.tenant, old.state FROM tenants CROSS JOIN LATERAL (
         SELECT ended.state FROM unnest($2::text[]) WITH ORDINALITY AS ended (state, o)
         WHERE (tenants.tenant > $1 OR ended.o >= $3) AND EXISTS (
           SELECT FROM ${s}.tasks t
           WHERE t.tenant = tenants.tenant AND t.state = ended.state AND t.status_at < $4)
         ORDER BY ended.o LIMIT 1) AS old
       LIMIT 1`,
      [tenant, terminal, terminal.indexOf(state) + 1, before],
    )
    return row && [String(row['tenant']), row['state'] as State, Number.MIN_SAFE_INTEGER, '']
  }

  /** The state after this one, of this tenant or of the next one. */
  function stateAfter([tenant, state]: Cursor): Cursor {
    const next = terminal[terminal.indexOf(state) + 1]
    const [place, from] = next === undefined ? [`${tenant}\t`, terminal[0]] : [tenant, next]
    return [place, from ?? state, Number.MIN_SAFE_INTEGER, '']
  }

  async function remove(
    tenant: string,
    old: readonly TaskRow[],
    removedAt: number,
  ): Promise<number> {
    const [row] = await db.write(`SELECT ${s}.remove_tasks_1($1, $2, $3, $4) AS n`, [
      tenant,
      old.map((task) => toText(task.id)),
      old.map((task) => JSON.stringify(task)),
      removedAt,
    ])
    return Number(row?.['n'])
  }

  return {
    async pruneTasks(statusBefore, removedAt, limit, after) {
      const given = after === undefined ? undefined : (JSON.parse(after) as Cursor)
      const isNew = given === undefined || given[3] === ''
      const start = given ?? (['', terminal[0] ?? 'completed', 0, ''] as const)
      const from = isNew ? await firstOld(start, statusBefore) : given
      if (from === undefined) return { removed: 0 }
      const [tenant, state, statusAt, id] = from
      const rows = await db.read(
        `SELECT ${selectedColumns} FROM ${tasksIn(s)}
         WHERE t.tenant = $1 AND t.state = $2 AND (t.status_at, t.id) > ($3, $4) AND t.status_at < $5
         ORDER BY t.status_at, t.id LIMIT $6`,
        [tenant, state, statusAt, toText(id), statusBefore, limit],
      )
      const old = rows.map(toTaskRow)
      const removed = old.length === 0 ? 0 : await remove(tenant, old, removedAt)
      const last = old.at(-1)
      const next: Cursor =
        last !== undefined && old.length === limit
          ? [tenant, state, last.statusAt, last.id]
          : stateAfter(from)
      return { removed, after: JSON.stringify(next) }
    },
    async removedTask(tenant, taskId) {
      const [row] = await db.read(
        `SELECT body FROM ${s}.removed_tasks WHERE tenant = $1 AND id = $2`,
        [toText(tenant), toText(taskId)],
      )
      return row && (JSON.parse(String(row['body'])) as TaskRow)
    },
  }
}

/** Prunes messages and sessions of contexts without an open task. */
function createPruneContexts(db: Database): Pick<Store, 'pruneContextMessages' | 'pruneSessions'> {
  const s = db.schema
  const key = 'tenant, principal, context_id, pos'
  return {
    async pruneContextMessages(before, limit, after = '["","","",0]'): Promise<PruneResult> {
      const rows = await db.write(
        `WITH page AS (SELECT * FROM ${s}.context_messages WHERE (${key}) > ($1, $2, $3, $4) ORDER BY ${key} LIMIT $5),
         gone AS (DELETE FROM ${s}.context_messages m USING page
                  WHERE (m.tenant, m.principal, m.context_id, m.pos) = (page.tenant, page.principal, page.context_id, page.pos)
                    AND page.at < $6 AND NOT ${s}.is_open_1(page.tenant, page.principal, page.context_id)
                  RETURNING m.tenant, m.principal, octet_length(m.message) AS bytes),
         counted AS (${counted(s, 'principal')})
         SELECT removed, page.* FROM counted LEFT JOIN (
           SELECT ${key}, count(*) OVER () AS seen FROM page ORDER BY tenant DESC, principal DESC, context_id DESC, pos DESC
           LIMIT 1) AS page ON true`,
        [...(JSON.parse(after) as readonly Value[]), limit, before],
      )
      const [{ seen, removed, tenant, principal, context_id: context, pos } = {}] = rows
      if (Number(seen ?? 0) < limit) return { removed: Number(removed) }
      const next = JSON.stringify([tenant, principal, context, Number(pos)])
      return { removed: Number(removed), after: next }
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
                  RETURNING x.tenant, x.principal, octet_length(x.body) AS bytes),
         counted AS (${counted(s, 'principal')})
         SELECT removed, page.* FROM counted LEFT JOIN (
           SELECT tenant, principal, id, count(*) OVER () AS seen FROM page
           ORDER BY tenant DESC, principal DESC, id DESC LIMIT 1) AS page ON true`,
        [...(JSON.parse(after) as readonly Value[]), limit, before],
      )
      const [{ seen, removed, tenant, principal, id } = {}] = rows
      if (Number(seen ?? 0) < limit) return { removed: Number(removed) }
      return { removed: Number(removed), after: JSON.stringify([tenant, principal, id]) }
    },
  }
}
