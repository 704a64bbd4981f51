/**
 * Checks a stored task: its receipts, their anchor, and that the log folds to the task that is shown.
 *
 * VT1  Other work of the event loop has its turn after every few receipts. A receipt takes a quarter of a millisecond, and
 *      more in a task with many messages.
 * VT2  A tenant has one check at a time. Callers who ask for the same version of a task share a check, and its result for
 *      ten seconds. It is not kept longer, so that a log that is changed by hand is found soon.
 */

import {
  type CheckedReceipt,
  createReceiptCheck,
  type ReceiptCheck,
  type ReceiptFault,
} from '../../core/receipts/check-receipts.ts'
import type { Receipt } from '../../core/receipts/receipt.ts'
import { anchorFaults } from '../../core/receipts/receipt-anchor.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { isSameJson } from '../../core/values/json.ts'
import { weightOf } from '../../core/values/weight.ts'
import type { Caller } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { logOf } from '../ledger/log-of.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { createShares } from '../limits/shares.ts'

/** The result of an audit. A fault is an invalid receipt, or a log that does not fold to the task that is shown. */
export interface Verification {
  readonly taskId: string
  /** The number of records checked. */
  readonly records: number
  /** Each receipt with what its check has shown. */
  readonly receipts: readonly CheckedReceipt[]
  readonly faults: readonly ReceiptFault[]
}

export type Verify = (caller: Caller, taskId: string) => Promise<Verification>

const KEPT_MS = 10_000
/** Results in memory. Each has the receipts of a task. */
const KEPT = 8

interface Kept {
  readonly version: number
  readonly result: Promise<Verification>
}

export function createVerify(context: EngineContext): Verify {
  const checks = createShares(1)
  const kept = new Map<string, Kept>()

  function forget(taskId: string, one: Kept): void {
    if (kept.get(taskId) === one) kept.delete(taskId)
  }

  return async (caller, taskId) => {
    const task = await taskFor(context, caller, taskId, 'read')
    const known = kept.get(taskId)
    if (known?.version === task.version) return known.result
    const result = checks.during(task.tenant, () => checkTask(context, task))
    const one: Kept = { version: task.version, result }
    kept.set(taskId, one)
    const [oldest] = kept.keys()
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
    result.then(
      () => context.clock.after(KEPT_MS, () => forget(taskId, one)),
      () => forget(taskId, one),
    )
    return result
  }
}

async function checkTask(
  { store, signer }: Pick<EngineContext, 'store' | 'signer'>,
  task: Task,
): Promise<Verification> {
  const { id: taskId } = task
  // The anchor is read before the log: a log that grows meanwhile has what the anchor names.
  const anchor = (await store.load(task.tenant, taskId))?.anchor
  await turn()
  const log: LogRecord[] = []
  for await (const record of logOf(store, task)) log.push(record)
  await turn()
  const check = createReceiptCheck(log, signer)
  const replayed = await checkInSlices(check, log, task.version)
  const { receipts, faults } = check.end()
  await turn()
  return {
    taskId,
    records: log.length,
    receipts,
    faults: [
      ...faults,
      ...anchorFaults(taskId, log, anchor, signer),
      ...replayFaults(replayed, task),
    ],
  }
}

/** Lets other work of the event loop run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** About as many receipts of a small task are checked before other work has its turn. */
const SLICE = 16
/** So many messages, artifacts and reminders of a task, or bytes of a record, cost as much as a receipt of a small task. */
const ITEMS = 100
const BYTES = 65_536

/** @returns the task as the log makes it at this version. The log may have grown since the task was read. */
async function checkInSlices(
  check: ReceiptCheck,
  log: readonly LogRecord[],
  version: number,
): Promise<Task | undefined> {
  let replayed: Task | undefined
  let work = 0
  for (const record of log) {
    if (!check.add(record)) return replayed
    if (record.seq === version) replayed = check.task
    work += costOf(record, check.task)
    if (work < SLICE) continue
    work = 0
    await turn()
  }
  return replayed
}

function costOf(record: LogRecord, task: Task | undefined): number {
  const { length: messages } = task?.history ?? []
  const { length: artifacts } = task?.artifacts ?? []
  const items = (messages + artifacts) / ITEMS
  return (record.type === 'receipt' ? 1 + items : items / 20) + weightOf(record) / BYTES
}

function replayFaults(replayed: Task | undefined, shown: Task): readonly ReceiptFault[] {
  const fault = (problem: string): readonly ReceiptFault[] => [{ seq: shown.version, problem }]
  if (isUnreadable(shown)) return fault(shown.suspension?.summary ?? 'cannot be read')
  return isSameJson(replayed, shown) ? [] : fault('the log does not fold to the task that is shown')
}

/** The receipts of a task as every protocol shows them. */
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
