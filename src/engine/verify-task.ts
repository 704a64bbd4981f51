/** Checks a stored task: its receipts, their anchor, and that the log folds to the task that is shown. */
import { type CheckedReceipt, checkReceipts, type ReceiptFault } from '../core/check-receipts.ts'
import { describeError } from '../core/describe-error.ts'
import { fold } from '../core/evolve.ts'
import { isSameJson } from '../core/json.ts'
import { anchorFaults } from '../core/receipt-anchor.ts'
import type { LogRecord } from '../core/records.ts'
import type { Task } from '../core/task.ts'
import type { Caller } from './caller.ts'
import { type EngineContext, taskFor } from './context.ts'
import { isUnreadable } from './ledger/unreadable-task.ts'
import { logOf } from './log-of.ts'

/** The result of an audit. A fault is an invalid receipt, or a log that does not fold to the task that is shown. */
export interface Verification {
  readonly taskId: string
  /** The number of records checked. */
  readonly records: number
  /** Each receipt with what its check has shown. */
  readonly receipts: readonly CheckedReceipt[]
  readonly faults: readonly ReceiptFault[]
}

export async function verify(
  context: EngineContext,
  caller: Caller,
  taskId: string,
): Promise<Verification> {
  const { store, signer } = context
  const task = await taskFor(context, caller, taskId)
  // The anchor is read before the log: a log that grows meanwhile has what the anchor names.
  const anchor = (await store.load(taskId))?.anchor
  await turn()
  const log: LogRecord[] = []
  for await (const record of logOf(store, taskId)) log.push(record)
  await turn()
  const { receipts, faults } = checkReceipts(log, signer)
  await turn()
  return {
    taskId,
    records: log.length,
    receipts,
    faults: [...faults, ...anchorFaults(taskId, log, anchor, signer), ...replayFaults(log, task)],
  }
}

/** Lets other work of the event loop run: each part of the check takes some 50 ms for a log of tens of megabytes. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function replayFaults(log: readonly LogRecord[], shown: Task): readonly ReceiptFault[] {
  const fault = (problem: string): readonly ReceiptFault[] => [{ seq: shown.version, problem }]
  if (isUnreadable(shown)) return fault(shown.suspension?.summary ?? 'cannot be read')
  try {
    // The log may have grown since the task was read.
    const replayed = fold(log.filter((record) => record.seq <= shown.version))
    return isSameJson(replayed, shown)
      ? []
      : fault('the log does not fold to the task that is shown')
  } catch (error) {
    return fault(describeError(error).message)
  }
}
