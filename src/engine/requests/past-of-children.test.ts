/** Many children of one task: each sees the context, which the others and the parent fill. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createHarness, running } from '../test-support/engine-harness.ts'

/** How many records are read from the store while so many children come and go. */
async function recordsRead(count: number): Promise<number> {
  const inner = createMemoryStore()
  let read = 0
  const store = {
    ...inner,
    async records(...page: Parameters<typeof inner.records>) {
      const records = await inner.records(...page)
      read += records.length
      return records
    },
  }
  const parent = running(
    async (task) => {
      const calls = Array.from({ length: count }, (_, n) => task.delegate('child', `${n}`))
      const children = await Promise.all(calls)
      await Promise.all(children.map((child) => child.result()))
    },
    { name: 'parent' },
  )
  const child = running((task) => task.step('work', () => task.text), { name: 'child' })
  const harness = await createHarness({ agents: [parent, child], store })
  const { id } = await harness.send('go', { agent: 'parent' })
  await harness.until(id, 'completed')
  return read
}

it('what is read for each child does not grow with their number', { timeout: 60_000 }, async () => {
  const [few, many] = [await recordsRead(250), await recordsRead(500)]
  expect(many / few).toBeLessThan(3)
  expect(many / 500).toBeLessThan(200)
})
