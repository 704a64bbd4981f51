import type { State } from '../../../core/states.ts'
import {
  type LogRow,
  parseRecords,
  parseSnapshot,
  recordsAfter,
} from '../../../ports/store/stored-log.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Direct } from '../../../ports/store.ts'
import type { Database, Row, Value } from '../files/driver.ts'

export function createLogs(db: Database): Direct<'load' | 'records'> {
  const find = db.prepare(
    'SELECT num, state, status_at, anchor, seq, body FROM tasks LEFT JOIN snapshots ON task = num WHERE id = ? AND tenant = ?',
  )
  const numOf = db.prepare('SELECT num FROM tasks WHERE id = ? AND tenant = ?')
  // The first row of a log has the task's number as its position. The other rows are found by the index on `task`.
  const after = db.prepare(
    `SELECT seq, body FROM records WHERE pos = ? AND task IS NULL AND seq > ?
     UNION ALL SELECT seq, body FROM records WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?`,
  )
  const rowsAfter = (num: Value, seq: number, limit: number): readonly Row[] =>
    after.all(num, seq, num, seq, limit)

  return {
    load(tenant, taskId) {
      const task = find.get(toText(taskId), toText(tenant))
      if (task === undefined) return undefined
      const { num = null, seq, body } = task
      const { anchor } = task
      const around = {
        row: { state: task['state'] as State, statusAt: Number(task['status_at']) },
        anchor: typeof anchor === 'string' ? anchor : null,
      }
      // Snapshots are taken after a whole commit, so every row is entirely before or after the snapshot.
      const records = rowsAfter(num, Number(seq ?? 0), -1).flatMap((row) =>
        parseRecords(taskId, rowOf(row)),
      )
      return typeof body === 'string'
        ? { snapshot: parseSnapshot(taskId, body), records, ...around }
        : { records, ...around }
    },
    records(tenant, taskId, afterSeq, limit) {
      const { num } = numOf.get(toText(taskId), toText(tenant)) ?? {}
      if (num === undefined) return []
      return recordsAfter(taskId, afterSeq, limit, rowsAfter(num, afterSeq, limit).map(rowOf))
    },
  }
}

function rowOf({ seq, body }: Row): LogRow {
  return { last: seq, body }
}
