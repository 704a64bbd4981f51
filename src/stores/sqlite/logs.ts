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
      const records = after.all(num, seq ?? 0).map(toRecord)
      return typeof body === 'string'
        ? { snapshot: JSON.parse(body) as Task, records }
        : { records }
    },
    records: (taskId, afterSeq, limit) => some.all(toText(taskId), afterSeq, limit).map(toRecord),
  }
}

function toRecord(row: Row): LogRecord {
  return JSON.parse(String(row['body'])) as LogRecord
}
