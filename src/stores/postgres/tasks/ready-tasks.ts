/** Finds and reserves tasks that wait for a slot. Tenants take turns. */
import { RESERVED_MS } from '../../../ports/store/cluster.ts'
import { TENANTS_AT_ONCE } from '../../../ports/store/in-turn.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database } from '../connection/database.ts'

export function createReadyTasks(db: Database): Store['ready'] {
  const text = readyQuery(db.schema)
  /** The tenant whose task was returned last, by agent. */
  const last = new Map<string, string>()

  return async (agent, limit, except = [], skip = []) => {
    const before = last.get(agent) ?? ''
    const left = [except.map(toText), skip.map(toText)]
    const rows = await db.write(text, [toText(agent), limit, RESERVED_MS, before, ...left])
    const latest = rows.at(-1)
    if (latest !== undefined) last.set(agent, String(latest['tenant']))
    return rows.map((row) => ({
      taskId: fromText(String(row['id'])),
      tenant: fromText(String(row['tenant'])),
    }))
  }
}

/**
 * The queries `behind` and `first` jump from one tenant to the next, because reading all rows would
 * read the whole backlog of a tenant. Each ends with a row without a tenant. `SKIP LOCKED` skips
 * tasks that another call is reserving.
 */
function readyQuery(s: string): string {
  const isReady = 'a.agent = $1 AND a.ready_at IS NOT NULL AND a.task_id <> ALL ($6::text[])'
  // The query also steps over tenants that are left out, so it takes that many steps more.
  const steps = `(${TENANTS_AT_ONCE} + cardinality($5::text[]))`
  const tenants = (name: string, start: string): string =>
    `${name} (tenant, n) AS (
      (SELECT a.tenant, 1 FROM ${s}.agenda a WHERE ${isReady} AND ${start} ORDER BY a.tenant LIMIT 1)
      UNION ALL
      SELECT (SELECT a.tenant FROM ${s}.agenda a WHERE ${isReady} AND a.tenant > ${name}.tenant ORDER BY a.tenant LIMIT 1),
        n + 1
      FROM ${name} WHERE ${name}.tenant IS NOT NULL AND n < ${steps})`
  return `WITH RECURSIVE clock AS MATERIALIZED (SELECT ${s}.clock_1() AS now), ${tenants('behind', 'a.tenant > $4')}, ${tenants('first', 'a.tenant <= $4')},
    wanted AS (
      SELECT tenant, min(place) AS place FROM (
        SELECT tenant, n AS place FROM behind UNION ALL SELECT tenant, ${steps} + n FROM first) AS all_tenants
      WHERE tenant IS NOT NULL AND tenant <> ALL ($5::text[]) GROUP BY tenant ORDER BY place LIMIT ${TENANTS_AT_ONCE}),
    found AS (
      SELECT wanted.tenant, one.task_id, one.turn, wanted.place FROM wanted CROSS JOIN LATERAL (
        SELECT task_id, row_number() OVER (ORDER BY ready_at, task_id) AS turn FROM (
          SELECT a.task_id, a.ready_at FROM ${s}.agenda a
          WHERE ${isReady} AND a.tenant = wanted.tenant AND (a.hidden_until IS NULL OR a.hidden_until <= (SELECT now FROM clock))
          ORDER BY a.ready_at, a.task_id LIMIT ceil($2::float8 / greatest(1, (SELECT count(*) FROM wanted)))::bigint
          FOR UPDATE SKIP LOCKED) AS locked) AS one
      ORDER BY one.turn, wanted.place LIMIT $2),
    reserved AS (
      UPDATE ${s}.agenda a SET hidden_until = (SELECT now FROM clock) + $3 * interval '1 ms'
      FROM found WHERE a.tenant = found.tenant AND a.task_id = found.task_id
      RETURNING a.task_id, a.tenant, found.turn, found.place)
    SELECT task_id AS id, tenant FROM reserved ORDER BY turn, place`
}
