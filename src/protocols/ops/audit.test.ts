import { expect, it } from 'vitest'
import { createHarness, olga, running } from '../../engine/test-support/engine-harness.ts'
import { readAudit } from './audit.ts'

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
      now: 0,
      body: undefined,
    })
    const { entries, cursor: next } = page as { entries: { target: string }[]; cursor?: string }
    targets.push(entries.map(({ target }) => target))
    cursor = next
  } while (cursor !== undefined)
  expect(targets).toEqual([['c', 'b'], ['a']])
})
