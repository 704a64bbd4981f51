import { describe, expect, it } from 'vitest'
import { alice, createHarness, running } from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'

describe('B3: a waiting task that cannot be started', () => {
  it('does not keep the others of its agent waiting, and is tried again', async () => {
    const failing = createFaultyStore()
    const agent = running((task) => task.step('x', () => task.text), { concurrency: 1 })
    const harness = await createHarness({ agents: [agent], store: failing.store })
    const held = { tenant: '*', principal: 'root', operator: true }
    const { holdId } = await harness.engine.hold(held, {
      scope: { all: true },
      reason: 'x',
      holdNew: true,
    })
    const sent = []
    for (const name of ['bad', 'good', 'better']) sent.push(await harness.send(name))
    const [bad, ...others] = sent
    failing.refuses = ({ taskId, records }) =>
      taskId === bad?.id && records.some(({ type }) => type === 'started')
    await harness.engine.lift(held, holdId).catch(() => undefined)
    for (const { id } of others) await harness.until(id, 'completed')
    expect((await harness.engine.get(alice, bad?.id ?? '')).state).toBe('submitted')
    failing.refuses = () => false
    await harness.pass(1_000)
    expect((await harness.until(bad?.id ?? '', 'completed')).state).toBe('completed')
  })
})
