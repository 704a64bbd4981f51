/** Folds a recorded task again from its first record, and compares the result with what the store shows. */

import { fold } from '../../../core/evolve.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import type { ReceiptFault } from '../../../core/receipts/check-receipts.ts'
import type { Task } from '../../../core/task.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { rowOf } from '../../ledger/row.ts'
import type { RecordedTask } from './recorded-task.ts'

export interface RecordedCheck {
  readonly records: number
  readonly receipts: number
  /** What is wrong with the receipts. */
  readonly faults: readonly ReceiptFault[]
  /** Where the folded log differs from the task that is shown, or from its row. Sentences. */
  readonly differences: readonly string[]
}

export function checkRecorded(recorded: RecordedTask): RecordedCheck {
  const { records, faults } = recorded
  const receipts = records.filter(({ type }) => type === 'receipt').length
  return { records: records.length, receipts, faults, differences: differencesOf(recorded) }
}

function differencesOf({ task, row, records }: RecordedTask): readonly string[] {
  let folded: Task | undefined
  try {
    folded = fold(records)
  } catch (error) {
    return [`the log does not fold: ${describeError(error).message}`]
  }
  if (folded === undefined) return ['the log is empty']
  return [
    ...membersThatDiffer(folded, task).map(
      (name) => `${name} of the task is not what its log folds to`,
    ),
    ...membersThatDiffer(rowOf(folded), row ?? {}).map(
      (name) => `${name} of the row is not what the log folds to`,
    ),
  ]
}

/** Compared as canonical JSON, so that an absent member is the same as an undefined one. */
function membersThatDiffer(folded: object, shown: object): readonly string[] {
  const [one, other] = [plain(folded), plain(shown)]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter((name) => textOf(one[name]) !== textOf(other[name])).sort()
}

function plain(value: object): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value))
}

function textOf(value: unknown): string {
  return value === undefined ? '' : canonical(value)
}
