/**
 * Checks a stored log before it is folded. Finds record types that this version does not know, gaps
 * in the numbers, and a log that is older than its row because its end is missing. One loss is not
 * detected: records after the last receipt that changed neither the state nor the time of the last
 * status, because the row is written only when it changes.
 */
import { isRecordType } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { StoredTask } from '../../ports/store/tasks.ts'

/**
 * Describes the fault in words that follow the task as subject, such as "its log …". Undefined if
 * the log is good.
 */
export function checkLog(
  records: readonly LogRecord[],
  snapshot: Task | undefined,
): string | undefined {
  let seq = snapshot?.version ?? 0
  for (const record of records) {
    if (record?.seq !== seq + 1) return `record ${seq + 1} is missing`
    if (!isRecordType(record.type)) {
      return `record ${record.seq} has the type "${record.type}", which this version does not know`
    }
    seq = record.seq
  }
  return undefined
}

/**
 * Compares the folded task with its row. The time of the row may be that of any record, because a
 * clock may have been set back.
 */
export function checkEnd(task: Task, { row, records }: StoredTask): string | undefined {
  if (row === undefined) return undefined
  if (row.state !== task.state) {
    return `its log ends in the state ${task.state}, but its row says ${row.state}`
  }
  const isInLog = row.statusAt <= task.statusAt || records.some(({ at }) => at >= row.statusAt)
  return isInLog ? undefined : 'its log ends before the last status that its row names'
}
