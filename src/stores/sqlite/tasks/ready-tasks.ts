/** Finds tasks that wait for a slot. Tenants take turns. */
import { inTurn, TENANTS_AT_ONCE } from '../../../ports/store/in-turn.ts'
import type { ReadyTask } from '../../../ports/store/work.ts'
import type { Database } from '../files/driver.ts'
import { fromText, toText } from '../text.ts'

export type ReadyTasks = (
  agent: string,
  limit: number,
  except?: readonly string[],
  skip?: readonly string[],
) => readonly ReadyTask[]

export function createReadyTasks(db: Database): ReadyTasks {
  // Jumps from one tenant to the next, because reading all rows would read the whole backlog of a
  // tenant.
  const isReady = 'ready_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?3))'
  const nextTenants = (first: string) =>
    db.prepare(
      `WITH RECURSIVE next (tenant) AS (
         SELECT min(tenant) FROM tasks WHERE agent = ?1 AND ${isReady} AND ${first}
         UNION ALL
         SELECT (SELECT min(tasks.tenant) FROM tasks
                 WHERE tasks.agent = ?1 AND ${isReady} AND tasks.tenant > next.tenant)
         FROM next WHERE next.tenant IS NOT NULL
       )
       SELECT tenant FROM next WHERE tenant IS NOT NULL AND tenant NOT IN (SELECT value FROM json_each(?4))
       LIMIT ${TENANTS_AT_ONCE}`,
    )
  const behind = nextTenants('tenant > ?2')
  const fromTheFirst = nextTenants('tenant <= ?2')
  const ofTenant = db.prepare(
    `SELECT id FROM tasks WHERE agent = ?1 AND tenant = ?2 AND ${isReady}
     ORDER BY ready_at, num LIMIT ?4`,
  )
  /** The tenant whose task was returned last, by agent. */
  const last = new Map<string, string>()

  function tenantsOf(agent: string, skip: string, except: string): readonly string[] {
    const query = [agent, last.get(agent) ?? '', skip, except] as const
    const rows = [...behind.all(...query), ...fromTheFirst.all(...query)]
    const tenants = new Set(rows.map((row) => String(row['tenant'])))
    return [...tenants].slice(0, TENANTS_AT_ONCE)
  }

  return (name, limit, except = [], skip = []) => {
    const agent = toText(name)
    const skipped = JSON.stringify(skip.map(toText))
    const tenants = tenantsOf(agent, skipped, JSON.stringify(except.map(toText)))
    const each = Math.ceil(limit / Math.max(1, tenants.length))
    const found = tenants.map((tenant) =>
      ofTenant.all(agent, tenant, skipped, each).map((row) => ({
        taskId: fromText(String(row['id'])),
        tenant: fromText(tenant),
      })),
    )
    const tasks = inTurn(found, limit)
    const latest = tasks.at(-1)
    if (latest !== undefined) last.set(agent, toText(latest.tenant))
    return tasks
  }
}
