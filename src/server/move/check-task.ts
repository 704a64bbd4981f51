/** Compares a task with what was read back from the store to which it was moved. */
import { createHash } from 'node:crypto'
import { isLullError } from '../../core/errors.ts'
import { fold } from '../../core/evolve.ts'
import { canonical } from '../../core/receipts/canonical-json.ts'
import { type ReceiptFault, verifyReceipts } from '../../core/receipts/check-receipts.ts'
import type { Signer } from '../../core/receipts/receipt.ts'
import { anchorFaults } from '../../core/receipts/receipt-anchor.ts'
import type { LogRecord } from '../../core/records.ts'
import type { MovedTask } from '../../ports/store/moving.ts'
import { parseRecords } from '../../ports/store/stored-log.ts'

export interface CheckedTask {
  readonly records: number
  readonly receipts: number
  /**
   * Whether the log cannot be read. That was so before the move, because the bytes are the same.
   */
  readonly isUnreadable: boolean
  readonly faults: readonly ReceiptFault[]
  /** The difference; undefined if the task was moved correctly. */
  readonly difference: string | undefined
}

/** @param there what was read back; undefined if the task is missing */
export function checkTask(
  here: MovedTask,
  there: MovedTask | undefined,
  signer: Signer,
): CheckedTask {
  const before = readLog(here)
  const after = there && readLog(there)
  const records = after ?? []
  return {
    records: here.log.at(-1)?.last ?? 0,
    receipts: records.filter(({ type }) => type === 'receipt').length,
    isUnreadable: before === undefined,
    faults: [
      ...verifyReceipts(records, signer),
      ...anchorFaults(here.row.id, records, there?.anchor ?? null, signer),
    ],
    difference: there === undefined ? 'is missing' : differenceOf(here, there, before, after),
  }
}

function differenceOf(
  here: MovedTask,
  there: MovedTask,
  before: readonly LogRecord[] | undefined,
  after: readonly LogRecord[] | undefined,
): string | undefined {
  if (before?.length !== after?.length) return 'has another number of records'
  if (digestOf(here) !== digestOf(there)) return 'has another log'
  if (stateOf(before) !== stateOf(after)) return 'has another state'
  if (canonical({ ...here.row }) !== canonical({ ...there.row })) return 'has another row'
  if (here.anchor !== there.anchor) return 'has another anchor of its receipts'
  if (here.snapshot?.seq !== there.snapshot?.seq) return 'has another snapshot'
  return here.snapshot?.body === there.snapshot?.body ? undefined : 'has another snapshot'
}

/** The records. Undefined if the log is damaged. */
function readLog({ row, log }: MovedTask): readonly LogRecord[] | undefined {
  try {
    return log.flatMap((commit) => parseRecords(row.id, commit))
  } catch (error) {
    if (isLullError(error)) return undefined
    throw error
  }
}

function digestOf({ log }: MovedTask): string {
  const digest = createHash('sha256')
  for (const { last, body } of log) digest.update(`${last} ${body}\n`)
  return digest.digest('hex')
}

/** The folded task as text. Undefined if the log cannot be folded. */
function stateOf(log: readonly LogRecord[] | undefined): string | undefined {
  if (log === undefined) return undefined
  try {
    return JSON.stringify(fold(log))
  } catch {
    return undefined
  }
}
