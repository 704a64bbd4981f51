/** Reads logs. A row has the records of one commit. */
import type { State } from '../../../core/states.ts'
import {
  type LogRow,
  parseRecords,
  parseSnapshot,
  recordsAfter,
} from '../../../ports/store/stored-log.ts'
import type { StoredTask, TaskKey } from '../../../ports/store/tasks.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Row } from '../connection/database.ts'
import { joined } from '../connection/joined-reads.ts'
import { groupedBy } from './grouped-by.ts'

export function createLogs(db: Database): Pick<Store, 'load' | 'records'> {
  const s = db.schema
  // Snapshots are taken after a whole commit, so every row is entirely before or after the snapshot.
  // The first row is the row of the task: one statement reads it and the log as of the same instant.
  const read = joined<TaskKey, () => StoredTask | undefined>(async (tasks) => {
    const keys = tasks.map(({ tenant, id }) => [toText(tenant), toText(id)] as const)
    const asked = [...new Map(keys.map((key) => [placeOf(...key), key])).values()]
    const rows = await db.read(
      // `LIMIT` keeps the planner from joining whole tables, because it does not know how few keys are given.
      `WITH asked AS (
         SELECT u.tenant, u.id, t.state, t.status_at, t.anchor, n.seq, n.body
         FROM unnest($1::text[], $2::text[]) AS u (tenant, id)
         CROSS JOIN LATERAL (
           SELECT * FROM ${s}.tasks WHERE tenant = u.tenant AND id = u.id LIMIT 1) AS t
         LEFT JOIN LATERAL (
           SELECT * FROM ${s}.snapshots WHERE tenant = u.tenant AND task_id = u.id LIMIT 1) AS n ON true)
       SELECT tenant, id, state, status_at, anchor, body AS snapshot, 0 AS last, NULL AS body FROM asked
       UNION ALL SELECT tenant, id, NULL, NULL, NULL, NULL, r.last, r.body
       FROM asked CROSS JOIN LATERAL (
         SELECT last, body FROM ${s}.records
         WHERE tenant = asked.tenant AND task_id = asked.id AND first > coalesce(asked.seq, 0) OFFSET 0) AS r
       ORDER BY tenant, id, last`,
      [asked.map(([tenant]) => tenant), asked.map(([, id]) => id)],
    )
    const byTask = groupedBy(rows, ({ tenant, id }) => placeOf(String(tenant), String(id)))
    // A damaged log must fail only the call that asked for it, so it is parsed there.
    return tasks.map(({ id }, n) => {
      const log = byTask.get(placeOf(...(keys[n] ?? ['', '']))) ?? []
      return () => toStoredTask(id, log)
    })
  })

  return {
    load: async (tenant, id) => (await read({ tenant, id }))(),
    async records(tenant, taskId, afterSeq, limit) {
      // A row has at least one record. The last row that starts at or before the next record may
      // contain that record.
      const rows = await db.read(
        `SELECT last, body FROM ${s}.records
         WHERE tenant = $1 AND task_id = $2 AND last > $3 AND first >= coalesce(
           (SELECT r.first FROM ${s}.records r WHERE r.tenant = $1 AND r.task_id = $2 AND r.first <= $3 + 1
            ORDER BY r.first DESC LIMIT 1), 0)
         ORDER BY first LIMIT $4`,
        [toText(tenant), toText(taskId), afterSeq, limit],
      )
      return recordsAfter(taskId, afterSeq, limit, rows.map(rowOf))
    },
  }
}

/** One text for a key. No stored text has a line break (`text.ts`). */
function placeOf(tenant: string, id: string): string {
  return `${tenant}\n${id}`
}

function toStoredTask(taskId: string, [task, ...log]: readonly Row[]): StoredTask | undefined {
  if (task === undefined) return undefined
  const { anchor } = task
  const around = {
    row: { state: task['state'] as State, statusAt: Number(task['status_at']) },
    anchor: typeof anchor === 'string' ? anchor : null,
  }
  const records = log.flatMap((one) => parseRecords(taskId, rowOf(one)))
  const body = task['snapshot']
  return typeof body === 'string'
    ? { snapshot: parseSnapshot(taskId, body), records, ...around }
    : { records, ...around }
}

function rowOf({ last, body }: Row): LogRow {
  return { last, body }
}
