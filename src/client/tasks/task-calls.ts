/** Calls that read or end a task: get, list, cancel, and its receipts. */
import type { ReceiptReport } from '../../wire/ops/logs.ts'
import type { Client } from '../client.ts'
import { notA2A } from '../client-error.ts'
import type { ClientParts } from '../create-client.ts'
import { operations } from '../wire/a2a-names.ts'
import { toWireState } from '../wire/extension-metadata.ts'
import { isObject, readList, readString } from '../wire/json-members.ts'

export type TaskCalls = Pick<Client, 'get' | 'list' | 'cancel' | 'receipts'>

export function createTaskCalls({ transport, read, version }: ClientParts): TaskCalls {
  return {
    async get(id, { signal, historyLength } = {}) {
      const params = { id, historyLength }
      return read.task(await transport.call(operations.get, params, { signal }))
    },
    async list({ state, ...filter } = {}, { signal } = {}) {
      const status = state === undefined || version === '0.3' ? state : toWireState(state)
      const params = { ...filter, status }
      const page = read.page(await transport.call(operations.list, params, { signal }))
      if (state === undefined) return page
      return { ...page, tasks: page.tasks.filter((task) => task.state === state) }
    },
    async cancel(id, { signal, metadata } = {}) {
      const params = { id, metadata }
      return read.task(await transport.call(operations.cancel, params, { signal }))
    },
    async receipts(taskId, { signal } = {}) {
      const answer = await transport.call(operations.listReceipts, { taskId }, { signal })
      if (!isReport(answer)) throw notA2A('a list of receipts')
      return answer
    },
  }
}

function isReport(answer: unknown): answer is ReceiptReport {
  if (readString(answer, 'taskId') === undefined) return false
  return readList(answer, 'receipts').every(isObject) && readList(answer, 'faults').every(isObject)
}
