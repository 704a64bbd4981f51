/** A1: ledger/ledger.ts. */
import { describe, expect, it } from 'vitest'
import { alice, createHarness, running } from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'

const parks = running((task) => task.park({ reason: 'x' }).then(() => undefined))

describe('messages to a task that takes no turns', () => {
  it('are refused above the limit of their number, and nothing is written', async () => {
    const harness = await createHarness({ agents: [parks], options: { queuedMessages: 4 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    for (const text of ['a', 'b', 'c']) await harness.tell(id, text)
    await expect(harness.tell(id, 'd')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'queuedMessages', value: 4 },
    })
    expect((await harness.get(id)).queued).toHaveLength(4)
  })

  it('are refused above the limit of their bytes', async () => {
    const harness = await createHarness({ agents: [parks], options: { queuedBytes: 10_000 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.tell(id, 'x'.repeat(6_000))
    await expect(harness.tell(id, 'x'.repeat(6_000))).rejects.toMatchObject({
      details: { limit: 'queuedBytes' },
    })
    await harness.tell(id, 'short')
  })
})

describe('the history of a task', () => {
  it('takes no message above the limit of their number, and drops none', async () => {
    const harness = await createHarness({ agents: [parks], options: { historyMessages: 3 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    for (const text of ['a', 'b']) await harness.tell(id, text)
    await expect(harness.tell(id, 'c')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'historyMessages', value: 3 },
    })
    expect((await harness.get(id)).history).toHaveLength(3)
  })

  it('takes no message above the limit of their bytes', async () => {
    const harness = await createHarness({ agents: [parks], options: { historyBytes: 10_000 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.tell(id, 'x'.repeat(6_000))
    await expect(harness.tell(id, 'x'.repeat(6_000))).rejects.toMatchObject({
      details: { limit: 'historyBytes' },
    })
    await harness.tell(id, 'short')
  })

  it('takes the answer to a question at its limit, but no other words', async () => {
    const asks = running(async (task) => {
      await task.requireConsent({ prompt: 'Pay?', operation: { pay: 1 } })
    })
    const harness = await createHarness({ agents: [asks], options: { historyMessages: 2 } })
    const { id } = await harness.send('go')
    const { question } = await harness.until(id, 'user-consent-required')
    await harness.tell(id, 'why?')
    await expect(harness.tell(id, 'why?')).rejects.toMatchObject({
      details: { limit: 'historyMessages' },
    })
    const consentId = question?.consent?.consentId ?? ''
    await harness.tell(id, [{ data: { consentId, decision: 'granted' } }])
    await harness.until(id, 'completed')
  })
})

it('A1: while too much waits for the store messages and reminders are refused, a cancel is not', async () => {
  const faulty = createFaultyStore()
  const harness = await createHarness({
    agents: [parks],
    store: faulty.store,
    options: { waitingCommands: 2 },
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  const gate = faulty.hold()
  const first = [harness.send('1'), harness.send('2')]
  await harness.settled()
  await expect(harness.send('3')).rejects.toMatchObject({ code: 'OVERLOADED' })
  const reminding = harness.engine.remind(alice, { taskId: id, reminder: { body: 'x' } })
  await expect(reminding).rejects.toMatchObject({ code: 'OVERLOADED' })
  const canceling = harness.engine.cancel(alice, { taskId: id })
  gate.fire()
  await Promise.all(first)
  expect((await canceling).state).toBe('canceled')
  await harness.settled()
  await harness.send('3')
})
