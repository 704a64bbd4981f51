/** A worker outside the process parks the task it works on: as if the agent had asked, at the next boundary. */
import { describe, expect, it } from 'vitest'
import { alice, createHarness, effects, running, signal } from '../test-support/engine-harness.ts'

async function working() {
  const done = effects()
  const go = signal()
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        await task.step('one', async () => {
          await go.promise
          done.note('one')
        })
        await task.step('two', () => done.note('two'))
      }),
    ],
  })
  const { id } = await harness.send('go')
  await harness.settled()
  return { harness, id, done, go: go.fire }
}

describe('a park from outside', () => {
  it('commits at the next boundary, by the agent, and waits for its conditions', async () => {
    const { harness, id, done, go } = await working()
    const conditions = { onEvent: 'approved', timeout: { durationMinutes: 5 } }
    const parking = harness.engine.park(alice, { taskId: id, reason: 'approval', conditions })
    await harness.settled()
    go()
    const parked = await parking
    expect(parked).toMatchObject({ state: 'paused-by-agent', reason: 'approval', conditions })
    expect((await harness.get(id)).suspension).toMatchObject({
      initiator: 'agent',
      actor: { kind: 'agent', id: 'worker' },
      handle: parked.handle,
    })
    expect(done.list).toEqual(['one'])
    await harness.emit('approved')
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['one', 'two'])
  })

  it('is woken by an event that came before it, as every park', async () => {
    const { harness, id, go } = await working()
    await harness.emit('approved')
    const conditions = { onEvent: 'approved' }
    const parking = harness.engine.park(alice, { taskId: id, reason: 'approval', conditions })
    await harness.settled()
    go()
    await parking
    await harness.until(id, 'completed')
  })

  it('of a task that is parked or ended is refused', async () => {
    const { harness, id, go } = await working()
    go()
    await harness.until(id, 'completed')
    const late = harness.engine.park(alice, { taskId: id, reason: 'x' })
    await expect(late).rejects.toMatchObject({ code: 'TASK_NOT_PAUSABLE' })
  })
})
