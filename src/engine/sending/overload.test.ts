import { describe, expect, it } from 'vitest'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { createWorld, running } from '../test-support/world.ts'

describe('a message that comes while too much waits for the store', () => {
  it('is refused at once, and taken when the store has caught up', async () => {
    const faulty = createFaultyStore()
    const world = await createWorld({
      agents: [running(() => 'done')],
      store: faulty.store,
      options: { waitingCommands: 2 },
    })
    const stalled = faulty.hold()
    const taken = [world.send('a'), world.send('b')]
    await world.settled()
    await expect(world.send('c')).rejects.toMatchObject({ code: 'OVERLOADED' })
    stalled.fire()
    for (const { id } of await Promise.all(taken)) await world.ended(id)
    expect((await world.ended((await world.send('c')).id)).state).toBe('completed')
  })
})
