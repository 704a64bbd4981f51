/** Writes a task as one file (`core/receipts/task-export.ts`). */

import { makeExport, type TaskExport } from '../../../core/receipts/task-export.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Caller } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import { logOf } from '../../ledger/log-of.ts'

export interface ExportRequest {
  readonly taskId: string
  /** Replaces content by hashes: messages, artifacts, inputs, results of steps. The receipts still verify. */
  readonly redacted?: boolean | undefined
}

export async function exportTask(
  context: EngineContext,
  caller: Caller,
  { taskId, redacted = false }: ExportRequest,
): Promise<TaskExport> {
  const { store, clock, signer, version: lull } = context
  await taskFor(context, caller, taskId)
  const log: LogRecord[] = []
  for await (const record of logOf(store, taskId)) log.push(record)
  return makeExport(log, { taskId, lull, at: clock.now(), redacted }, signer)
}
