/** The method `_session/receipts`: returns the signed receipts of a task of the session. */
import { LullError } from '../../../core/errors.ts'
import { parse } from '../../../engine/input/parse.ts'
import { type ReceiptReport, receiptReport } from '../../../engine/requests/receipt-report.ts'
import { taskIdIn } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import { receiptsRequest } from '../schemas/requests.ts'

/**
 * Returns the receipts of the task named by `_meta.lull.taskId`, or else of the latest one, even if
 * it has ended.
 */
export async function receipts(
  { acp: { engine, sessions }, caller }: Connection,
  params: unknown,
): Promise<ReceiptReport> {
  const { sessionId, _meta } = parse(receiptsRequest, params)
  await sessions.get(caller, sessionId)
  const taskId = taskIdIn(_meta) ?? (await latest())
  const task = taskId === undefined ? undefined : await engine.get(caller, taskId)
  if (task?.contextId !== sessionId) {
    const problem = 'is not a task of the session'
    throw new LullError('INVALID_INPUT', { path: '_meta.lull.taskId', problem })
  }
  return receiptReport(await engine.verify(caller, task.id))

  async function latest(): Promise<string | undefined> {
    const { tasks } = await engine.list(caller, { contextId: sessionId, limit: 1 })
    return tasks[0]?.id
  }
}
