/** Exports that no server has written: a log of records as a test says, signed with a key of its own. For tests only. */
import { evolve } from '../../core/evolve.ts'
import type { Signer } from '../../core/receipts/receipt.ts'
import { createReceipts } from '../../core/receipts/receipts.ts'
import { makeExport, type TaskExport } from '../../core/receipts/task-export.ts'
import type { LogRecord, RecordBody, Submission } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { createSigner } from '../../server/system/signer.ts'

export const forger: Signer = createSigner(Buffer.from('a key that somebody made for himself'))

/** @param bodies the records after the first two */
export function forged(
  submission: Partial<Submission> & { readonly taskId: string; readonly tenant: string },
  bodies: readonly RecordBody[] = [],
): TaskExport {
  const { taskId } = submission
  const contextId = submission.contextId ?? `context-of-${taskId}`
  const message = {
    messageId: 'm-1',
    role: 'ROLE_USER',
    parts: [{ text: 'go' }],
    taskId,
    contextId,
  } as const
  const first: RecordBody = {
    type: 'submitted',
    principal: 'alice',
    agent: 'parent',
    message,
    eventsAfter: 0,
    ...submission,
    contextId,
  }
  const started = {
    type: 'started',
    run: { token: 'run-1', worker: 'elsewhere' },
    deaths: 0,
  } as const
  return exportOf(taskId, [first, started, ...bodies])
}

/** The records with their numbers and receipts, as a file. A record that cannot be folded has no receipt. */
export function exportOf(
  taskId: string,
  bodies: readonly RecordBody[],
  signer: Signer = forger,
): TaskExport {
  const makeReceipt = createReceipts(signer)
  const log: LogRecord[] = []
  let task: Task | undefined
  const append = (body: RecordBody): void => {
    const record: LogRecord = { at: 1_000, ...body, seq: log.length + 1 }
    log.push(record)
    task = evolve(task, record)
  }
  const signed = (body: RecordBody): void => {
    append(body)
    const receipt = task && makeReceipt(task, body, 1_000)
    if (receipt !== undefined) append(receipt)
  }
  for (const body of bodies) {
    try {
      signed(body)
    } catch {
      // The import is to find out.
    }
  }
  const made = makeExport(log, { taskId, lull: '1.0.0', at: 2_000, redacted: false }, signer)
  return JSON.parse(JSON.stringify(made)) as TaskExport
}

/** The record of a parent that has begun a child. */
export function delegatedTo(childId: string, agent = 'child'): RecordBody {
  const message = { messageId: 'm-2', role: 'ROLE_USER', parts: [{ text: 'do' }] } as const
  return { type: 'delegated', key: `delegate:${agent}#1`, childId, agent, message }
}
