/** Finds tasks that wait for a slot, of each tenant in turn. */
import { inTurn, TENANTS_AT_ONCE } from '../../ports/store/in-turn.ts'
import type { ReadyTask } from '../../ports/store/work.ts'
import type { Database } from './driver.ts'
import { fromText, toText } from './text.ts'

export type ReadyTasks = (
  agent: string,
  limit: number,
  except?: readonly string[],
) => readonly ReadyTask[]

export function createReadyTasks(db: Database): ReadyTasks {
  // Skips from one tenant to the next. Reading all rows would read the whole backlog of a tenant.
  const nextTenants = (first: string) =>
    db.prepare(
      `WITH RECURSIVE next (tenant) AS (
         SELECT min(tenant) FROM tasks WHERE agent = ?1 AND ready_at IS NOT NULL AND ${first}
         UNION ALL
         SELECT (SELECT min(tasks.tenant) FROM tasks
                 WHERE tasks.agent = ?1 AND ready_at IS NOT NULL AND tasks.tenant > next.tenant)
         FROM next WHERE next.tenant IS NOT NULL
       )
       SELECT tenant FROM next WHERE tenant IS NOT NULL LIMIT ${TENANTS_AT_ONCE}`,
    )
  const behind = nextTenants('tenant > ?2')
  const fromTheFirst = nextTenants('tenant <= ?2')
  const ofTenant = db.prepare(
    `SELECT id FROM tasks WHERE agent = ? AND tenant = ? AND ready_at IS NOT NULL
     ORDER BY ready_at, num LIMIT ?`,
  )
  /** The tenant of the last task that was found, by agent. */
  const last = new Map<string, string>()

  function tenantsOf(agent: string): readonly string[] {
    const before = last.get(agent) ?? ''
    const rows = [...behind.all(agent, before), ...fromTheFirst.all(agent, before)]
    const tenants = new Set(rows.map((row) => String(row['tenant'])))
    return [...tenants].slice(0, TENANTS_AT_ONCE)
  }

  return (name, limit, except = []) => {
    const agent = toText(name)
    const left = new Set(except.map(toText))
    const tenants = tenantsOf(agent).filter((tenant) => !left.has(tenant))
    const each = Math.ceil(limit / Math.max(1, tenants.length))
    const found = tenants.map((tenant) =>
      ofTenant.all(agent, tenant, each).map((row) => ({
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
