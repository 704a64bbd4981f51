/** Logs are read as they were written: a row holds the records of one commit. */
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { StoredTask } from '../../ports/task-store.ts'
import type { Database, Row } from './driver.ts'
import { toText } from './text.ts'

export interface Logs {
  load(taskId: string): StoredTask | undefined
  records(taskId: string, afterSeq: number, limit: number): readonly LogRecord[]
}

export function createLogs(db: Database): Logs {
  const find = db.prepare(
    'SELECT num, seq, body FROM tasks LEFT JOIN snapshots ON task = num WHERE id = ?',
  )
  const after = db.prepare('SELECT body FROM records WHERE task = ? AND seq > ? ORDER BY seq')
  const some = db.prepare(
    `SELECT body FROM records WHERE task = (SELECT num FROM tasks WHERE id = ?) AND seq > ?
     ORDER BY seq LIMIT ?`,
  )
  return {
    load(taskId) {
      const task = find.get(toText(taskId))
      if (task === undefined) return undefined
      const { num = null, seq, body } = task
      // A snapshot is of a whole commit: no row reaches over it.
      const records = after.all(num, seq ?? 0).flatMap(recordsIn)
      return typeof body === 'string'
        ? { snapshot: JSON.parse(body) as Task, records }
        : { records }
    },
    records: (taskId, afterSeq, limit) =>
      firstOf(limit, afterSeq, some.all(toText(taskId), afterSeq, limit)),
  }
}

/** Parses no row that is not needed: each holds one record at least. */
function firstOf(limit: number, afterSeq: number, rows: readonly Row[]): readonly LogRecord[] {
  const found: LogRecord[] = []
  for (const row of rows) {
    if (found.length >= limit) break
    for (const record of recordsIn(row)) if (record.seq > afterSeq) found.push(record)
  }
  return found.length > limit ? found.slice(0, limit) : found
}

function recordsIn(row: Row): readonly LogRecord[] {
  return JSON.parse(String(row['body'])) as readonly LogRecord[]
}
