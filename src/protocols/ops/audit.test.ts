import { expect, it } from 'vitest'
import { createHarness, olga, running } from '../../engine/test-support/engine-harness.ts'
import { readAudit } from './server.ts'

it('has a cursor that counts no entries of other tenants', async () => {
  const { engine } = await createHarness({ agents: [running(async () => 'done')] })
  const note = (tenant: string) =>
    engine.audit.note({ tenant, action: 'hold', target: tenant, outcome: 'done' })
  const read = async (cursor?: string) => {
    const query = new URLSearchParams({ limit: '1', ...(cursor && { cursor }) })
    const request = {
      query,
      id: '',
      anyTenant: false,
      scopes: new Set<never>(),
      now: 0,
      body: undefined,
    }
    const page: object = await readAudit.handle(engine, olga, request)
    return page as { entries: readonly unknown[]; cursor?: string }
  }
  note(olga.tenant)
  for (let n = 0; n < 50; n++) note('other')
  note(olga.tenant)
  note(olga.tenant)
  const first = await read()
  const second = await read(first.cursor)
  expect(second.entries).toHaveLength(1)
  expect(Number(second.cursor) - Number(first.cursor)).toBeNaN()
})

it('pages through the audit log newest first', async () => {
  const { engine } = await createHarness({ agents: [running(async () => 'done')] })
  for (const target of ['a', 'b', 'c']) {
    engine.audit.note({ tenant: olga.tenant, action: 'hold', target, outcome: 'done' })
  }
  const targets: unknown[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ order: 'desc', limit: '2', ...(cursor && { cursor }) })
    const page: object = await readAudit.handle(engine, olga, {
      query,
      id: '',
      anyTenant: false,
      scopes: new Set<never>(),
      now: 0,
      body: undefined,
    })
    const { entries, cursor: next } = page as { entries: { target: string }[]; cursor?: string }
    targets.push(entries.map(({ target }) => target))
    cursor = next
  } while (cursor !== undefined)
  expect(targets).toEqual([['c', 'b'], ['a']])
})
