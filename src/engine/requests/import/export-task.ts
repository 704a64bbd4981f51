/** Writes a task as one file (`core/receipts/task-export.ts`). */
import { z } from 'zod'
import { makeExport, type TaskExport } from '../../../core/receipts/task-export.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Caller } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import type { FieldsOf } from '../../input/exhaustive.ts'
import { check } from '../../input/parse.ts'
import { id } from '../../input/primitives.ts'
import { logOf } from '../../ledger/log-of.ts'
import type { Verb } from '../verb.ts'

export interface ExportRequest {
  readonly taskId: string
  /** Replaces content by hashes: messages, artifacts, inputs, results of steps. The receipts still verify. */
  readonly redacted?: boolean | undefined
}

export const exportVerb: Verb<'exportTask'> = {
  input: z.strictObject({
    taskId: id,
    redacted: z.boolean().optional(),
  } satisfies FieldsOf<ExportRequest>),
  audited: 'task.export',
  limited: false,
  scope: 'tasks:read',
  act: 'read',
  method:
    ({ context }) =>
    (caller, request) =>
      exportTask(context, caller, request),
}

async function exportTask(
  context: EngineContext,
  caller: Caller,
  request: ExportRequest,
): Promise<TaskExport> {
  const { taskId, redacted = false } = check(exportVerb.input, request)
  const { store, clock, signer, version: lull } = context
  const task = await taskFor(context, caller, taskId, exportVerb.act)
  const log: LogRecord[] = []
  for await (const record of logOf(store, task)) log.push(record)
  return makeExport(log, { taskId, lull, at: clock.now(), redacted }, signer)
}
