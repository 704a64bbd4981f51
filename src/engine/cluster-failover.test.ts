/** A shared store whose server fails, and another one takes over that lacks the last writes. */
import { describe, expect, it } from 'vitest'
import { createClusterHarness } from './test-support/cluster-harness.ts'
import { effects, running, signal } from './test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }
const holdAll = { scope: { all: true }, reason: 'stop' } as const
/** The server that takes over has everything but the hold and what came after it. */
const withoutHold = (_: unknown, index: number, writes: readonly { readonly name: string }[]) =>
  index < writes.findIndex(({ name }) => name === 'putHoldAt')

describe('after a failover that lost a hold', () => {
  it('tasks are created, and holds are placed and lifted', async () => {
    const done = effects()
    const cluster = createClusterHarness({
      agents: [running((task) => task.step('x', () => done.note(task.text)))],
    })
    const a = await cluster.join()
    await a.engine.hold(root, { ...holdAll, holdNew: true })
    await cluster.failOver(withoutHold)
    await cluster.pass(LEASE_MS)
    const { id } = await a.send('one')
    await cluster.settled()
    expect((await a.get(id)).state).toBe('completed')
    const { holdId } = await a.engine.hold(root, { ...holdAll, holdNew: true })
    const { id: held } = await a.send('two')
    await cluster.settled()
    expect(done.list).toEqual(['one'])
    await a.engine.lift(root, holdId)
    await cluster.settled()
    expect((await a.get(held)).state).toBe('completed')
  })

  it('C8: the next hold waits until every process has read it', async () => {
    const done = effects()
    const go = signal()
    const cluster = createClusterHarness({
      agents: [
        running(async (task) => {
          await go.promise
          await task.step('x', () => done.note('x'))
        }),
      ],
      hints: () => [],
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const placing = b.engine.hold(root, { scope: { agent: 'none' }, reason: 'stop' })
    await cluster.pass(LEASE_MS)
    await placing
    await cluster.failOver(withoutHold)
    await cluster.pass(LEASE_MS)
    await a.send('go')
    await cluster.settled()
    const holding = b.engine.hold(root, holdAll).then(() => go.fire())
    await cluster.pass(LEASE_MS)
    await holding
    await cluster.pass(2_000)
    expect(done.list).toEqual([])
  })
})
