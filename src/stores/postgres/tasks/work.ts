/**
 * Finds tasks with something to do. Each query reads a range of a partial index that has only such
 * tasks. Whether a task is due is decided by the clock of the server; an earlier instant of the
 * caller only delays that.
 */

import { RESERVED_MS } from '../../../ports/store/cluster.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { ReadyTask } from '../../../ports/store/work.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Row, Value } from '../connection/database.ts'
import { joined } from '../connection/joined-reads.ts'
import { deadWorkers } from '../workers.ts'
import { groupedBy } from './grouped-by.ts'
import { createReadyTasks } from './ready-tasks.ts'
import { arrayLiteral } from './rows.ts'

type Work = Pick<
  Store,
  'ready' | 'readyAgents' | 'orphans' | 'due' | 'nextDueAt' | 'waiting' | 'waitNames' | 'waitOwners'
>

export function createWork(db: Database): Work {
  const s = db.schema
  /**
   * Epoch milliseconds. It is a subquery, because PostgreSQL does not use an index for a value that
   * may change from row to row.
   */
  const serverNow = '(SELECT extract(epoch FROM now)::float8 * 1000 FROM clock)'

  /**
   * Selects the first tasks that are not reserved, and reserves them. `SKIP LOCKED` skips tasks
   * that another call is reserving.
   */
  const reserve = (
    where: string,
    order: string,
    values: readonly Value[],
  ): Promise<readonly Row[]> =>
    db.write(
      `WITH clock AS MATERIALIZED (SELECT ${s}.clock_1() AS now),
       found AS (
         SELECT tenant, task_id FROM ${s}.agenda
         WHERE ${where} AND (hidden_until IS NULL OR hidden_until <= (SELECT now FROM clock))
         ORDER BY ${order} LIMIT $2 FOR UPDATE SKIP LOCKED),
       reserved AS (
         UPDATE ${s}.agenda a SET hidden_until = (SELECT now FROM clock) + $3 * interval '1 ms'
         FROM found WHERE a.tenant = found.tenant AND a.task_id = found.task_id
         RETURNING a.tenant, a.task_id, a.owner, a.ready_at, a.due_at)
       SELECT tenant, task_id AS id, owner FROM reserved ORDER BY ${order}`,
      [...values, RESERVED_MS],
    )

  return {
    ready: createReadyTasks(db),
    // Jumps from one agent to the next, because reading all rows would read the whole backlog of an
    // agent.
    readyAgents: async () =>
      (
        await db.read(
          `WITH RECURSIVE next (agent) AS (
             (SELECT agent FROM ${s}.agenda WHERE ready_at IS NOT NULL ORDER BY agent LIMIT 1)
             UNION ALL
             SELECT (SELECT a.agent FROM ${s}.agenda a
                     WHERE a.ready_at IS NOT NULL AND a.agent > next.agent ORDER BY a.agent LIMIT 1)
             FROM next WHERE next.agent IS NOT NULL)
           SELECT agent AS id FROM next WHERE agent IS NOT NULL`,
        )
      ).map(toId),
    // Jumps from one owner to the next, because living workers own most tasks.
    orphans: async (_alive, limit, agents) =>
      (
        await reserve(
          `owner = ANY (ARRAY(
             WITH RECURSIVE next (owner) AS (
               (SELECT owner FROM ${s}.agenda WHERE owner IS NOT NULL ORDER BY owner LIMIT 1)
               UNION ALL
               SELECT (SELECT o.owner FROM ${s}.agenda o WHERE o.owner > next.owner ORDER BY o.owner LIMIT 1)
               FROM next WHERE next.owner IS NOT NULL),
             dead AS (${deadWorkers(s)})
             SELECT next.owner FROM next WHERE next.owner IN (SELECT id FROM dead)
               OR NOT EXISTS (SELECT FROM ${s}.workers w WHERE w.id = next.owner)))
           AND ($1::text[] IS NULL OR agent = ANY ($1))`,
          'owner',
          [agents?.map(toText), limit],
        )
      ).map((row) => ({ ...toTask(row), owner: fromText(String(row['owner'])) })),
    due: async (now, limit) =>
      (await reserve(`due_at <= least($1, ${serverNow})`, 'due_at', [now, limit])).map(toTask),
    async nextDueAt() {
      const [row] = await db.read(
        `SELECT due_at FROM ${s}.agenda WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
      )
      return row && Number(row['due_at'])
    },
    ...createWaits(db),
  }
}

interface Waiting {
  readonly tenant: string
  readonly names: readonly string[]
  readonly after: string
  readonly limit: number
}

type Prefix = readonly [tenant: string, prefix: string, after: string, limit: number]

/** Every event asks for the tasks that wait for it, so the calls of a process are joined. */
function createWaits(db: Database): Pick<Store, 'waiting' | 'waitNames' | 'waitOwners'> {
  const s = db.schema
  // Reads one range per name. A single range over all names would sort every waiting task.
  const waiting = joined<Waiting, readonly string[]>(async (calls) => {
    const rows = await db.read(
      `SELECT q.o, w.task_id AS id
       FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS q (tenant, names, after, most, o)
       CROSS JOIN LATERAL (
         SELECT DISTINCT found.task_id FROM unnest(q.names::text[]) AS wanted (name) CROSS JOIN LATERAL (
           SELECT task_id FROM ${s}.waits
           WHERE tenant = q.tenant AND waits.name = wanted.name AND task_id > q.after
           ORDER BY task_id LIMIT q.most) AS found
         ORDER BY found.task_id LIMIT q.most) AS w
       ORDER BY q.o, w.task_id`,
      [
        calls.map(({ tenant }) => toText(tenant)),
        calls.map(({ names }) => arrayLiteral(names.map(toText))),
        calls.map(({ after }) => toText(after)),
        calls.map(({ limit }) => limit),
      ],
    )
    const byCall = groupedBy(rows, ({ o }) => String(o))
    return calls.map((_, n) => (byCall.get(String(n + 1)) ?? []).map(toId))
  })
  // Jumps from one name to the next, because many tasks may wait for the same name. Calls that ask
  // the same, such as those of the events of one tenant, share a statement.
  const waitNames = joined<Prefix, readonly string[]>(async (calls) => {
    const asked = new Map<string, Promise<readonly string[]>>()
    const ask = async ([tenant, prefix, after, limit]: Prefix): Promise<readonly string[]> => {
      const start = toText(prefix)
      const rows = await db.read(
        `WITH RECURSIVE next (name, n) AS (
           SELECT $2::text COLLATE "C", 0
           UNION ALL
           SELECT (SELECT w.name FROM ${s}.waits w
                   WHERE w.tenant = $1 AND w.name > next.name AND w.name < $3
                   ORDER BY w.name LIMIT 1), n + 1
           FROM next WHERE next.name IS NOT NULL AND n < $4)
         SELECT name AS id FROM next WHERE name IS NOT NULL AND n > 0 ORDER BY n`,
        [toText(tenant), after > prefix ? toText(after) : start, textAfter(start), limit],
      )
      return rows.map(toId)
    }
    return Promise.all(
      calls.map((call) => {
        const key = JSON.stringify(call)
        const answer = asked.get(key) ?? ask(call)
        asked.set(key, answer)
        return answer
      }),
    )
  })
  return {
    waiting: (tenant, names, after, limit) => waiting({ tenant, names, after, limit }),
    waitNames: (...prefix) => waitNames(prefix),
    waitOwners: async (tenant, names) =>
      (
        await db.read(
          `SELECT t.principal AS id FROM unnest($2::text[]) AS wanted (name) CROSS JOIN LATERAL (
             SELECT task_id FROM ${s}.waits
             WHERE tenant = $1 AND waits.name = wanted.name
             ORDER BY task_id LIMIT 1) AS w
           JOIN ${s}.tasks t ON t.tenant = $1 AND t.id = w.task_id`,
          [toText(tenant), names.map(toText)],
        )
      ).map(toId),
  }
}

/** The smallest text greater than every text with the prefix. */
function textAfter(prefix: string): string {
  const last = prefix.length - 1
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)
}

function toTask(row: Row): ReadyTask {
  return { taskId: toId(row), tenant: fromText(String(row['tenant'])) }
}

function toId(row: Row): string {
  return fromText(String(row['id']))
}
