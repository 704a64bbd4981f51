/** Parses the rows of a log. A row that does not parse makes only its own task unreadable. */
import { LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'

/** The records of one commit. */
export interface LogRow {
  /** The number of the commit's last record. */
  readonly last: unknown
  /** A JSON list of records. */
  readonly body: unknown
}

/** @throws LullError `TASK_UNREADABLE` */
export function parseRecords(taskId: string, { last, body }: LogRow): readonly LogRecord[] {
  const what = `its log up to record ${last}`
  const records = parsed<readonly LogRecord[]>(taskId, what, String(body))
  if (Array.isArray(records)) return records
  throw new LullError('TASK_UNREADABLE', { taskId, why: `${what} is damaged` })
}

/** @throws LullError `TASK_UNREADABLE` */
export function parseSnapshot(taskId: string, body: string): Task {
  return parsed<Task>(taskId, 'its snapshot', body)
}

/** The first `limit` records after `afterSeq`. Stops parsing when it has enough. */
export function recordsAfter(
  taskId: string,
  afterSeq: number,
  limit: number,
  rows: readonly LogRow[],
): readonly LogRecord[] {
  const found: LogRecord[] = []
  for (const row of rows) {
    if (found.length >= limit) break
    for (const record of parseRecords(taskId, row)) if (record.seq > afterSeq) found.push(record)
  }
  return found.length > limit ? found.slice(0, limit) : found
}

function parsed<T>(taskId: string, what: string, body: string): T {
  try {
    return JSON.parse(body) as T
  } catch (cause) {
    throw new LullError('TASK_UNREADABLE', { taskId, why: `${what} is damaged` }, { cause })
  }
}
