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

describe('the history of a task', () => {
  it('takes no message above the limit of their number, and drops none', async () => {
    const world = await createWorld({ agents: [parks], options: { historyMessages: 3 } })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    for (const text of ['a', 'b']) await world.tell(id, text)
    await expect(world.tell(id, 'c')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'historyMessages', value: 3 },
    })
    expect((await world.get(id)).history).toHaveLength(3)
  })

  it('takes no message above the limit of their bytes', async () => {
    const world = await createWorld({ agents: [parks], options: { historyBytes: 10_000 } })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    await world.tell(id, 'x'.repeat(6_000))
    await expect(world.tell(id, 'x'.repeat(6_000))).rejects.toMatchObject({
      details: { limit: 'historyBytes' },
    })
    await world.tell(id, 'short')
  })

  it('takes the answer to a question at its limit, but no other words', async () => {
    const asks = running(async (task) => {
      await task.requireConsent({ prompt: 'Pay?', operation: { pay: 1 } })
    })
    const world = await createWorld({ agents: [asks], options: { historyMessages: 2 } })
    const { id } = await world.send('go')
    const { question } = await world.until(id, 'user-consent-required')
    await world.tell(id, 'why?')
    await expect(world.tell(id, 'why?')).rejects.toMatchObject({
      details: { limit: 'historyMessages' },
    })
    const consentId = question?.consent?.consentId ?? ''
    await world.tell(id, [{ data: { consentId, decision: 'granted' } }])
    await world.until(id, 'completed')
  })
})

it('A1: while too much waits for the store messages and reminders are refused, a cancel is not', async () => {
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
  const reminding = world.engine.remind(alice, { taskId: id, reminder: { body: 'x' } })
  await expect(reminding).rejects.toMatchObject({ code: 'OVERLOADED' })
  const canceling = world.engine.cancel(alice, { taskId: id })
  gate.fire()
  await Promise.all(first)
  expect((await canceling).state).toBe('canceled')
  await world.settled()
  await world.send('3')
})
