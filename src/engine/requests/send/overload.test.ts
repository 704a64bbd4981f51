import { describe, expect, it } from 'vitest'
import { createHarness, running } from '../../test-support/engine-harness.ts'
import { createFaultyStore } from '../../test-support/faulty-store.ts'

describe('a message that comes while too much waits for the store', () => {
  it('is refused at once, and taken when the store has caught up', async () => {
    const faulty = createFaultyStore()
    const harness = await createHarness({
      agents: [running(() => 'done')],
      store: faulty.store,
      options: { waitingCommands: 2 },
    })
    const stalled = faulty.hold()
    const taken = [harness.send('a'), harness.send('b')]
    await harness.settled()
    await expect(harness.send('c')).rejects.toMatchObject({ code: 'OVERLOADED' })
    stalled.fire()
    for (const { id } of await Promise.all(taken)) await harness.ended(id)
    expect((await harness.ended((await harness.send('c')).id)).state).toBe('completed')
  })
})
