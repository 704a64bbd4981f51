import { makeAnchor } from '../core/receipts/receipt-anchor.ts'
import type { LogRecord } from '../core/records.ts'
import type { Task } from '../core/task.ts'
import { rowOf } from '../engine/ledger/row.ts'
import type { Commit } from '../ports/store/tasks.ts'
import { testSigner } from './test-signer.ts'

/**
 * Builds one commit that writes a whole log, including what a store keeps outside the log. `task`
 * is the folded log.
 */
export function commitOfLog(task: Task, records: readonly LogRecord[]): Commit {
  const anchor = task.receipts.count > 0 ? { anchor: makeAnchor(task, testSigner) } : {}
  return { taskId: task.id, expected: 0, records, row: rowOf(task), ...anchor }
}
