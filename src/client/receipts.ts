/** The receipts of a task. */
import type { ReceiptReport } from '../wire/ops/logs.ts'
import type { Client } from './client.ts'
import { notA2A } from './client-error.ts'
import type { ClientParts } from './parts.ts'
import { operations } from './wire/a2a-names.ts'
import { isObject, listIn, textIn } from './wire/json-members.ts'

export function createReceipts({ transport }: ClientParts): Pick<Client, 'receipts'> {
  return {
    async receipts(taskId, { signal } = {}) {
      const answer = await transport.call(operations.listReceipts, { taskId }, { signal })
      if (!isReport(answer)) throw notA2A('a list of receipts')
      return answer
    },
  }
}

function isReport(answer: unknown): answer is ReceiptReport {
  if (textIn(answer, 'taskId') === undefined) return false
  return listIn(answer, 'receipts').every(isObject) && listIn(answer, 'faults').every(isObject)
}
