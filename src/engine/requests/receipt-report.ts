/** The receipts of a task as every protocol shows them. */
import type { CheckedReceipt, ReceiptFault } from '../../core/receipts/check-receipts.ts'
import type { Receipt } from '../../core/receipts/receipt.ts'
import type { Verification } from './verify-task.ts'

export interface ReceiptReport {
  readonly taskId: string
  /** How many records were checked. */
  readonly records: number
  /** Each receipt as it was signed, with what its check has shown. */
  readonly receipts: readonly (Receipt & Omit<CheckedReceipt, 'receipt'>)[]
  /** Whether every receipt is genuine and none is missing. */
  readonly verified: boolean
  readonly faults: readonly ReceiptFault[]
}

export function receiptReport(verification: Verification): ReceiptReport {
  const { taskId, records, receipts, faults } = verification
  const shown = receipts.map(({ receipt, ...checked }) => ({ ...receipt, ...checked }))
  return { taskId, records, receipts: shown, verified: faults.length === 0, faults }
}
