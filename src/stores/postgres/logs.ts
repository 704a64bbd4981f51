/** Reads logs. A row holds the records of one commit. A row that does not parse makes its own task unreadable and no other. */
import { LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
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
        return { records: rows.flatMap((row) => recordsIn(taskId, row)) }
      const snapshot = parsed<Task>(taskId, 'its snapshot', body)
      return { snapshot, records: rows.slice(1).flatMap((row) => recordsIn(taskId, row)) }
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
      return firstOf(limit, afterSeq, taskId, rows)
    },
  }
}

/** The first `limit` records after `afterSeq`. Stops parsing rows when it has enough. */
function firstOf(
  limit: number,
  afterSeq: number,
  taskId: string,
  rows: readonly Row[],
): readonly LogRecord[] {
  const found: LogRecord[] = []
  for (const row of rows) {
    if (found.length >= limit) break
    for (const record of recordsIn(taskId, row)) if (record.seq > afterSeq) found.push(record)
  }
  return found.slice(0, limit)
}

function recordsIn(taskId: string, row: Row): readonly LogRecord[] {
  const what = `its log up to record ${row['last']}`
  const records = parsed<readonly LogRecord[]>(taskId, what, String(row['body']))
  if (Array.isArray(records)) return records
  throw new LullError('TASK_UNREADABLE', { taskId, why: `${what} is damaged` })
}

/** @throws LullError `TASK_UNREADABLE` */
function parsed<T>(taskId: string, what: string, body: string): T {
  try {
    return JSON.parse(body) as T
  } catch (cause) {
    throw new LullError('TASK_UNREADABLE', { taskId, why: `${what} is damaged` }, { cause })
  }
}
