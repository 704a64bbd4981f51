/** Reads logs. A row holds the records of one commit. */
import {
  type LogRow,
  parseRecords,
  parseSnapshot,
  recordsAfter,
} from '../../ports/store/stored-log.ts'
import { toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database, Row } from './database.ts'

export function createLogs(db: Database): Pick<Store, 'load' | 'records'> {
  const s = db.schema
  return {
    async load(taskId) {
      // Snapshots are taken after a whole commit, so every row is entirely before or after the snapshot.
      const rows = await db.read(
        `SELECT NULL AS seq, NULL AS snapshot, last, body FROM ${s}.records
         WHERE task_id = $1 AND first > coalesce((SELECT seq FROM ${s}.snapshots WHERE task_id = $1), 0)
         UNION ALL SELECT seq, body, 0, NULL FROM ${s}.snapshots WHERE task_id = $1
         ORDER BY last`,
        [toText(taskId)],
      )
      if (rows.length === 0) return undefined
      const [first] = rows
      const body = first?.['snapshot']
      if (typeof body !== 'string')
        return { records: rows.flatMap((row) => parseRecords(taskId, rowOf(row))) }
      const snapshot = parseSnapshot(taskId, body)
      return { snapshot, records: rows.slice(1).flatMap((row) => parseRecords(taskId, rowOf(row))) }
    },
    async records(taskId, afterSeq, limit) {
      // A row has at least one record. The last row that starts at or before the next record may contain it.
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

function rowOf({ last, body }: Row): LogRow {
  return { last, body }
}
