/** Get, list and cancel. */
import type { Client } from '../client.ts'
import type { ClientParts } from '../parts.ts'
import { operations } from '../wire/a2a-names.ts'
import { toWireState } from '../wire/extension-metadata.ts'

export type Reading = Pick<Client, 'get' | 'list' | 'cancel'>

export function createReading({ transport, read, version }: ClientParts): Reading {
  return {
    async get(id, { signal, historyLength } = {}) {
      const params = { id, historyLength }
      return read.task(await transport.call(operations.get, params, { signal }))
    },
    async list({ state, ...filter } = {}, { signal } = {}) {
      const wire = version === '1.0' ? toWireState : (one: string) => one
      const status = state === undefined ? undefined : wire(state)
      const params = { ...filter, status }
      const page = read.page(await transport.call(operations.list, params, { signal }))
      if (state === undefined) return page
      return { ...page, tasks: page.tasks.filter((task) => task.state === state) }
    },
    async cancel(id, { signal, metadata } = {}) {
      const params = { id, metadata }
      return read.task(await transport.call(operations.cancel, params, { signal }))
    },
  }
}
