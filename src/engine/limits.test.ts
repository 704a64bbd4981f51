import { describe, expect, it } from 'vitest'
import { createFaultyStore } from './test-support/faulty-store.ts'
import { alice, createWorld, running } from './test-support/world.ts'

const parks = running((task) => task.park({ reason: 'x' }).then(() => undefined))

describe('messages to a task that takes no turns', () => {
  it('are refused above the limit of their number, and nothing is written', async () => {
    const world = await createWorld({ agents: [parks], options: { queuedMessages: 4 } })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    for (const text of ['a', 'b', 'c']) await world.tell(id, text)
    await expect(world.tell(id, 'd')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'queuedMessages', value: 4 },
    })
    expect((await world.get(id)).queued).toHaveLength(4)
  })

  it('are refused above the limit of their bytes', async () => {
    const world = await createWorld({ agents: [parks], options: { queuedBytes: 10_000 } })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    await world.tell(id, 'x'.repeat(6_000))
    await expect(world.tell(id, 'x'.repeat(6_000))).rejects.toMatchObject({
      details: { limit: 'queuedBytes' },
    })
    await world.tell(id, 'short')
  })
})

it('A1: while too much waits for the store messages are refused, and a cancel is not', async () => {
  const faulty = createFaultyStore()
  const world = await createWorld({
    agents: [parks],
    store: faulty.store,
    options: { waitingCommands: 2 },
  })
  const { id } = await world.send('go')
  await world.until(id, 'paused-by-agent')
  const gate = faulty.hold()
  const first = [world.send('1'), world.send('2')]
  await world.settled()
  await expect(world.send('3')).rejects.toMatchObject({ code: 'OVERLOADED' })
  const canceling = world.engine.cancel(alice, { taskId: id })
  gate.fire()
  await Promise.all(first)
  expect((await canceling).state).toBe('canceled')
  await world.send('3')
})
