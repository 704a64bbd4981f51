import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { createHarness, running } from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const rule = { onEvent: 'incident', scope: { tenant: 'acme' }, reason: 'incident' } as const
const idle = running(() => 'done')
const DAY_MS = 86_400_000

const incidents = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `e${from + n}`,
    source: 'pager',
    type: 'incident',
    specversion: '1.0' as const,
  }))

describe('the dry run of a rule', () => {
  it('reads the events of the last day, not all that are stored', async () => {
    const store = createMemoryStore()
    let read = 0
    const counting = {
      ...store,
      async events(...query: Parameters<typeof store.events>) {
        const page = await store.events(...query)
        read += page.length
        return page
      },
    }
    const { engine, clock } = await createHarness({ agents: [idle], store: counting })
    await store.appendEvents('acme', incidents(0, 5_000), clock.now())
    clock.advance(2 * DAY_MS)
    await store.appendEvents('acme', incidents(5_000, 3), clock.now())
    read = 0
    expect(await engine.dryRunRule(root, rule)).toMatchObject({ fired: 3, truncated: false })
    expect(read).toBeLessThan(50)
  })

  it('looks at a bounded number of events, and says so', async () => {
    const { engine, store, clock } = await createHarness({ agents: [idle] })
    await store.appendEvents('acme', incidents(0, 11_000), clock.now())
    const { fired, firings, truncated } = await engine.dryRunRule(root, rule)
    expect(truncated).toBe(true)
    expect(fired).toBeLessThan(11_000)
    expect(firings).toHaveLength(100)
  })
})
