import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createHarness, olga, running } from '../../test-support/engine-harness.ts'

const parked = () =>
  running(async (task) => {
    await task.park({ reason: 'x', onEvent: 'paid' })
  })

it('a task that changes while its row is read is read at one version, or not at all', async () => {
  const store = createMemoryStore()
  let changes = 0
  let change = async (): Promise<void> => undefined
  const moving = {
    ...store,
    async row(taskId: string) {
      const row = await store.row('acme', taskId)
      if (changes-- > 0) await change()
      return row
    },
  }
  const harness = await createHarness({ agents: [parked()], store: moving })
  const { id } = await harness.send('go')
  await harness.until(id, (task) => task.suspension !== undefined)
  change = async () => {
    const { version } = await harness.engine.get(olga, id)
    const row = await store.row('acme', id)
    if (row === undefined) throw new Error('the task has no row')
    const record = { type: 'said', key: `say#${version}`, seq: version + 1, at: 1 } as const
    // Another process writes.
    await store.commit([{ tenant: 'acme', taskId: id, expected: version, records: [record], row }])
  }
  changes = 1
  await expect(harness.engine.recorded(olga, id)).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { limit: 'reads of a task that changes' },
  })
})
