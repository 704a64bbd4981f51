/** Everything that is stored of a task, for a replay outside of the engine. */

import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { type ReceiptFault, verifyReceipts } from '../../../core/receipts/check-receipts.ts'
import { anchorFaults } from '../../../core/receipts/receipt-anchor.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { TaskRow } from '../../../ports/store/tasks.ts'
import { conversation, type Past } from '../../author/conversation.ts'
import type { Caller } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import { logOf } from '../../ledger/log-of.ts'
import { pastOfTask } from '../past.ts'

export interface RecordedTask {
  /** As the engine shows it now. */
  readonly task: Task
  /** The columns of the store. */
  readonly row: TaskRow | undefined
  /** From the first one on. */
  readonly records: readonly LogRecord[]
  /** What is wrong with the receipts. */
  readonly faults: readonly ReceiptFault[]
  /** What the task sees of its context. */
  readonly past: { readonly messages: readonly Message[]; readonly tasks: readonly Task[] }
}

/** A task that changes between the reads of its row and of its version is read again. */
const MOST_READS = 10
const RETRY_MS = 1_000

/** @throws LullError `TASK_NOT_FOUND`, or `LIMIT_EXCEEDED` for a task that changes all the time */
export async function recordedTask(
  context: EngineContext,
  caller: Caller,
  taskId: string,
): Promise<RecordedTask> {
  const { task, row, anchor } = await atOneVersion(context, caller, taskId)
  const records: LogRecord[] = []
  for await (const record of logOf(context.store, task)) {
    // The task has moved on since.
    if (record.seq > task.version) break
    records.push(record)
  }
  const { messages, tasks } = (await pastOfTask(context, task)).context
  const { signer } = context
  const faults = [
    ...verifyReceipts(records, signer),
    ...anchorFaults(taskId, records, anchor, signer),
  ]
  return { task, row, records, faults, past: { messages, tasks } }
}

/** @throws LullError `TASK_NOT_FOUND` */
export async function storedRecords(
  context: EngineContext,
  caller: Caller,
  taskId: string,
  after: number,
): Promise<AsyncGenerator<LogRecord, void>> {
  return logOf(context.store, await taskFor(context, caller, taskId, 'read'), after)
}

/** The task, its row and its anchor, all of the same version: the store had that version before and after the row was read. */
async function atOneVersion(context: EngineContext, caller: Caller, taskId: string) {
  for (let reads = 0; reads < MOST_READS; reads++) {
    const task = await taskFor(context, caller, taskId, 'read')
    const row = await context.store.row(task.tenant, taskId)
    const stored = await context.store.load(task.tenant, taskId)
    const version = stored?.records.at(-1)?.seq ?? stored?.snapshot?.version
    // A stored log that ends before the task is damaged, which the comparison shows.
    if (version === undefined || version <= task.version)
      return { task, row, anchor: stored?.anchor }
  }
  throw new LullError('LIMIT_EXCEEDED', {
    limit: 'reads of a task that changes',
    value: MOST_READS,
    retryAfterMs: RETRY_MS,
    instead: `task ${taskId} changes all the time; try again, or pause it`,
  })
}

/** The past of a recorded task as its code sees it. */
export function pastOf({ task, past }: Pick<RecordedTask, 'task' | 'past'>): Past {
  const { messages, tasks } = past
  const referenced = new Set(task.history[0]?.referenceTaskIds ?? [])
  return {
    context: conversation(messages, tasks),
    referenced: tasks.filter(({ id }) => referenced.has(id)),
  }
}
