/** Finds what keeps a stored log from being folded: a record type that this version does not know, or a gap in the numbers. */
import { isRecordType } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'

/** What is wrong, as a sentence without a subject; undefined when nothing is. */
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
