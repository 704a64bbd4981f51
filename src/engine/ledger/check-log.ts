/**
 * Finds what keeps a stored log from being folded (a record type that this version does not know, a gap in the
 * numbers), and a log that is behind its row because its end is missing. Records after the last receipt that
 * changed neither the state nor the time of the last status can be cut without a trace: a row is written only when it
 * changes.
 */
import { isRecordType } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { StoredTask } from '../../ports/store/tasks.ts'

/** The fault, as a sentence without a subject. Undefined: the log is good. */
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

/** The same for the folded task. Instants are compared with all records, because a clock may have been set back. */
export function checkEnd(task: Task, { row, records }: StoredTask): string | undefined {
  if (row === undefined) return undefined
  if (row.state !== task.state) {
    return `its log ends in the state ${task.state}, but its row says ${row.state}`
  }
  const isInLog = row.statusAt <= task.statusAt || records.some(({ at }) => at >= row.statusAt)
  return isInLog ? undefined : 'its log ends before the last status that its row names'
}
