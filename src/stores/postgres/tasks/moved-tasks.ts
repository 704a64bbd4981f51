/** Writes tasks of another store with their logs, and reads them back for comparison. */
import type { MovedCommit, MovedTask, MoveTarget } from '../../../ports/store/moving.ts'
import type { TaskRow } from '../../../ports/store/tasks.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Row } from '../connection/database.ts'
import type { Query } from '../move/move-target.ts'
import { groupedBy } from './grouped-by.ts'
import { columnsOf, selectedColumns, sendRow, tasksIn, toTaskRow } from './rows.ts'

/** The most characters of bodies in one statement. */
const MOST = 4_000_000

interface SentCommit {
  readonly tenant: string
  readonly taskId: string
  readonly first: number
  readonly last: number
  readonly body: string
}

export function createMovedTasks(query: Query, s: string): Pick<MoveTarget, 'addTasks' | 'read'> {
  async function addRows(tasks: readonly MovedTask[]): Promise<void> {
    const tenants = tasks.map(({ row }) => toText(row.tenant))
    const ids = tasks.map(({ row }) => toText(row.id))
    const columns = columnsOf(tasks.map(({ row }) => sendRow(row)))
    await query(rowInsertion(s), [
      tenants,
      ids,
      tasks.map(({ anchor }) => anchor ?? null),
      ...columns,
    ])
  }

  async function addLogs(tasks: readonly MovedTask[]): Promise<void> {
    const commits = tasks.flatMap(({ row, log }) => commitsOf(row, log))
    for (const part of partsOf(commits)) {
      await query(
        `INSERT INTO ${s}.records (tenant, task_id, first, last, body)
         SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::text[])`,
        [
          part.map(({ tenant }) => tenant),
          part.map(({ taskId }) => taskId),
          part.map(({ first }) => first),
          part.map(({ last }) => last),
          part.map(({ body }) => body),
        ],
      )
    }
  }

  async function addSnapshots(tasks: readonly MovedTask[]): Promise<void> {
    const kept = tasks.flatMap(({ row, snapshot }) =>
      snapshot === undefined ? [] : [{ ...keyOf(row), ...snapshot }],
    )
    for (const part of partsOf(kept)) {
      await query(
        `INSERT INTO ${s}.snapshots (tenant, task_id, seq, body)
         SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[])`,
        [
          part.map(({ tenant }) => tenant),
          part.map(({ taskId }) => taskId),
          part.map(({ seq }) => seq),
          part.map(({ body }) => body),
        ],
      )
    }
  }

  return {
    async addTasks(tasks) {
      await addRows(tasks)
      await addLogs(tasks)
      await addSnapshots(tasks)
    },
    async read(ids) {
      const texts = ids.map(toText)
      const rows = await query(
        `SELECT ${selectedColumns}, t.anchor FROM ${tasksIn(s)} WHERE t.id = ANY ($1)`,
        [texts],
      )
      const logs = await query(
        `SELECT task_id, last, body FROM ${s}.records WHERE task_id = ANY ($1) ORDER BY task_id, first`,
        [texts],
      )
      const snapshots = await query(
        `SELECT task_id, seq, body FROM ${s}.snapshots WHERE task_id = ANY ($1)`,
        [texts],
      )
      const rowOf = groupedBy(rows, (row) => String(row['id']))
      const logOf = groupedBy(logs, taskIdOf)
      const snapshotOf = groupedBy(snapshots, taskIdOf)
      return texts.map((id) => {
        const [row] = rowOf.get(id) ?? []
        const [kept] = snapshotOf.get(id) ?? []
        return row && toMovedTask(row, logOf.get(id) ?? [], kept)
      })
    },
  }
}

function taskIdOf(row: Row): string {
  return String(row['task_id'])
}

function keyOf({ tenant, id }: TaskRow): Pick<SentCommit, 'tenant' | 'taskId'> {
  return { tenant: toText(tenant), taskId: toText(id) }
}

/** Inserts the rows of tasks, the events that they wait for, and their entries in the agenda. */
function rowInsertion(s: string): string {
  return `WITH given AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::text[],
        $10::float8[], $11::boolean[], $12::text[], $13::float8[], $14::float8[], $15::text[])
        AS u (tenant, id, anchor, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, ready_at, due_at, owner)),
    waiting AS (
      INSERT INTO ${s}.waits (tenant, name, task_id)
      SELECT tenant, name, id FROM given CROSS JOIN unnest(waits::text[]) AS name),
    doing AS (
      INSERT INTO ${s}.agenda (tenant, task_id, agent, ready_at, due_at, owner)
      SELECT tenant, id, agent, ready_at, due_at, owner FROM given
      WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected')
        OR coalesce(ready_at, due_at) IS NOT NULL OR owner IS NOT NULL)
    INSERT INTO ${s}.tasks (tenant, id, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor)
    SELECT tenant, id, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits::text[], anchor
    FROM given`
}

function commitsOf(row: TaskRow, log: readonly MovedCommit[]): readonly SentCommit[] {
  return log.map(({ last, body }, n) => ({
    ...keyOf(row),
    first: (log[n - 1]?.last ?? 0) + 1,
    last,
    body,
  }))
}

/** Splits a list, so that no statement becomes too large. */
function* partsOf<T extends { readonly body: string }>(
  list: readonly T[],
): Generator<readonly T[]> {
  let part: T[] = []
  let size = 0
  for (const item of list) {
    if (size + item.body.length > MOST && part.length > 0) {
      yield part
      part = []
      size = 0
    }
    part.push(item)
    size += item.body.length
  }
  if (part.length > 0) yield part
}

function toMovedTask(row: Row, log: readonly Row[], kept: Row | undefined): MovedTask {
  return {
    row: toTaskRow(row),
    log: log.map(({ last, body }) => ({ last: Number(last), body: String(body) })),
    ...(kept && { snapshot: { seq: Number(kept['seq']), body: String(kept['body']) } }),
    ...(typeof row['anchor'] === 'string' ? { anchor: row['anchor'] } : {}),
  }
}
