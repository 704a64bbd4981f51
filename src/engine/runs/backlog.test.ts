import { describe, expect, it } from 'vitest'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { alice, createWorld, running } from '../test-support/world.ts'

describe('B3: a waiting task that cannot be started', () => {
  it('does not keep the others of its agent waiting, and is tried again', async () => {
    const failing = createFaultyStore()
    const agent = running((task) => task.step('x', () => task.text), { concurrency: 1 })
    const world = await createWorld({ agents: [agent], store: failing.store })
    const held = { tenant: '*', principal: 'root', operator: true }
    const { holdId } = await world.engine.hold(held, {
      scope: { all: true },
      reason: 'x',
      holdNew: true,
    })
    const sent = []
    for (const name of ['bad', 'good', 'better']) sent.push(await world.send(name))
    const [bad, ...others] = sent
    failing.refuses = ({ taskId, records }) =>
      taskId === bad?.id && records.some(({ type }) => type === 'started')
    await world.engine.lift(held, holdId).catch(() => undefined)
    for (const { id } of others) await world.until(id, 'completed')
    expect((await world.engine.get(alice, bad?.id ?? '')).state).toBe('submitted')
    failing.refuses = () => false
    await world.pass(1_000)
    expect((await world.until(bad?.id ?? '', 'completed')).state).toBe('completed')
  })
})
