/** Finds tasks with something to do. Each query reads a range of a partial index that holds only such tasks. */

import { inTurn, TENANTS_AT_ONCE } from '../../../ports/store/in-turn.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Orphan, ReadyTask } from '../../../ports/store/work.ts'
import type { Direct } from '../../../ports/store.ts'
import type { Database, Row } from '../files/driver.ts'

export function createWorkQueries(
  db: Database,
): Direct<'ready' | 'readyAgents' | 'orphans' | 'due' | 'nextDueAt'> {
  // Jumps from one agent to the next, because reading all rows would read the whole backlog of an
  // agent.
  const readyAgents = db.prepare(
    `WITH RECURSIVE next (agent) AS (
       SELECT min(agent) FROM tasks WHERE ready_at IS NOT NULL
       UNION ALL
       SELECT (SELECT min(tasks.agent) FROM tasks
               WHERE ready_at IS NOT NULL AND tasks.agent > next.agent)
       FROM next WHERE next.agent IS NOT NULL
     )
     SELECT agent AS id FROM next WHERE agent IS NOT NULL`,
  )
  // Only one process can use the file, so every other worker has ended. There are two ranges,
  // because `<>` would read all tasks of this worker.
  const orphans = db.prepare(
    `SELECT id, tenant, owner FROM tasks WHERE owner < ?
     UNION ALL SELECT id, tenant, owner FROM tasks WHERE owner > ? LIMIT ?`,
  )
  const due = db.prepare(
    'SELECT id, tenant FROM tasks WHERE due_at <= ? ORDER BY due_at, num LIMIT ?',
  )
  const nextDue = db.prepare(
    'SELECT due_at FROM tasks WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1',
  )

  return {
    ready: createReadyTasks(db),
    readyAgents: () => readyAgents.all().map(toId),
    orphans: (alive, limit) => orphans.all(toText(alive), toText(alive), limit).map(toOrphan),
    due: (now, limit) => due.all(now, limit).map(toTask),
    nextDueAt() {
      const row = nextDue.get()
      return row === undefined ? undefined : Number(row['due_at'])
    },
  }
}

function toId(row: Row): string {
  return fromText(String(row['id']))
}

function toTask(row: Row): ReadyTask {
  return { taskId: toId(row), tenant: fromText(String(row['tenant'])) }
}

function toOrphan(row: Row): Orphan {
  return { ...toTask(row), owner: fromText(String(row['owner'])) }
}

/** Finds tasks that wait for a slot. Tenants take turns. */
type ReadyTasks = (
  agent: string,
  limit: number,
  except?: readonly string[],
  skip?: readonly string[],
) => readonly ReadyTask[]

function createReadyTasks(db: Database): ReadyTasks {
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
