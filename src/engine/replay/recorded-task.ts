/** Everything that is stored of a task, for a replay outside of the engine. */

import { type ReceiptFault, verifyReceipts } from '../../core/check-receipts.ts'
import type { Message } from '../../core/message.ts'
import { anchorFaults } from '../../core/receipt-anchor.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import type { Caller } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { conversation, type Past } from '../conversation.ts'
import { logOf } from '../log-of.ts'
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

/** A task that changes while it is read is read again. */
const MOST_READS = 10

/** @throws LullError `TASK_NOT_FOUND` */
export async function recordedTask(
  context: EngineContext,
  caller: Caller,
  taskId: string,
): Promise<RecordedTask> {
  for (let reads = 1; ; reads++) {
    const task = await taskFor(context, caller, taskId)
    const row = await context.store.row(taskId)
    // Before the log: a log that grows meanwhile has what the anchor names.
    const anchor = (await context.store.load(taskId))?.anchor
    const read: LogRecord[] = []
    for await (const record of logOf(context.store, taskId)) read.push(record)
    const { version } = await taskFor(context, caller, taskId)
    if (version !== task.version && reads < MOST_READS) continue
    const records = read.filter(({ seq }) => seq <= task.version)
    const { context: past } = await pastOfTask(context, task)
    const { messages, tasks } = past
    const { signer } = context
    const faults = [
      ...verifyReceipts(records, signer),
      ...anchorFaults(taskId, records, anchor, signer),
    ]
    return { task, row, records, faults, past: { messages, tasks } }
  }
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
