/** The receipts of a task as every protocol shows them. */
import type { Verification } from '../engine/verify-task.ts'
import type { ReceiptReport } from '../wire/ops/logs.ts'

export function receiptReport(verification: Verification): ReceiptReport {
  const { taskId, records, receipts, faults } = verification
  const shown = receipts.map(({ seq, receipt, verdict, verifiedBy }) => ({
    ...receipt,
    seq,
    verdict,
    verifiedBy,
  }))
  return { taskId, records, receipts: shown, verified: faults.length === 0, faults }
}
