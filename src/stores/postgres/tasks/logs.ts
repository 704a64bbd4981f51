/** Reads logs. A row has the records of one commit. */
import type { State } from '../../../core/states.ts'
import {
  type LogRow,
  parseRecords,
  parseSnapshot,
  recordsAfter,
} from '../../../ports/store/stored-log.ts'
import type { StoredTask } from '../../../ports/store/tasks.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Row } from '../connection/database.ts'
import { joined } from '../connection/joined-reads.ts'
import { groupedBy } from './grouped-by.ts'

export function createLogs(db: Database): Pick<Store, 'load' | 'records'> {
  const s = db.schema
  // Snapshots are taken after a whole commit, so every row is entirely before or after the snapshot.
  // The first row is the row of the task: one statement reads it and the log as of the same instant.
  const read = joined<string, () => StoredTask | undefined>(async (taskIds) => {
    const ids = taskIds.map(toText)
    const rows = await db.read(
      `SELECT id, state, status_at, anchor, n.body AS snapshot, 0 AS last, NULL AS body
       FROM ${s}.tasks LEFT JOIN ${s}.snapshots n ON n.task_id = id WHERE id = ANY ($1)
       UNION ALL SELECT t.id, NULL, NULL, NULL, NULL, r.last, r.body
       FROM ${s}.tasks t CROSS JOIN LATERAL (
         SELECT last, body FROM ${s}.records WHERE task_id = t.id
           AND first > coalesce((SELECT seq FROM ${s}.snapshots WHERE task_id = t.id), 0)) AS r
       WHERE t.id = ANY ($1)
       ORDER BY id, last`,
      [[...new Set(ids)]],
    )
    const byTask = groupedBy(rows, 'id')
    // A damaged log must fail only the call that asked for it, so it is parsed there.
    return taskIds.map((taskId, n) => () => toStoredTask(taskId, byTask.get(ids[n] ?? '') ?? []))
  })

  return {
    load: async (taskId) => (await read(taskId))(),
    async records(taskId, afterSeq, limit) {
      // A row has at least one record. The last row that starts at or before the next record may
      // contain that record.
      const rows = await db.read(
        `SELECT last, body FROM ${s}.records WHERE task_id = $1 AND last > $2 AND first >= coalesce(
           (SELECT r.first FROM ${s}.records r WHERE r.task_id = $1 AND r.first <= $2 + 1
            ORDER BY r.first DESC LIMIT 1), 0)
         ORDER BY first LIMIT $3`,
        [toText(taskId), afterSeq, limit],
      )
      return recordsAfter(taskId, afterSeq, limit, rows.map(rowOf))
    },
  }
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
