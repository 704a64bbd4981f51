import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import {
  alice,
  createHarness,
  running,
  type Signal,
  signal,
} from '../test-support/engine-harness.ts'

/** A store whose `records` (of one task) or `commit` answers when the test says so. */
function createHeldStore() {
  const inner = createMemoryStore()
  const held: { taskId?: string; records?: Signal | undefined; commit?: Signal | undefined } = {}
  const store: Store = {
    ...inner,
    async records(tenant, taskId, ...asked) {
      const read = await inner.records(tenant, taskId, ...asked)
      if (taskId === held.taskId) await held.records?.promise
      return read
    },
    async commit(batch) {
      const written = await inner.commit(batch)
      await held.commit?.promise
      return written
    },
  }
  return { store, held }
}

/** In one turn: parks, does a step, and says which reminders it sees behind that step. */
const rereads = () => {
  const seen: string[][] = []
  const begun: string[] = []
  const agent = running(async (task) => {
    begun.push(task.text)
    await task.turn(async (turn) => {
      await task.park({ reason: 'x' })
      await task.step('after', () => undefined)
      seen.push(turn.reminders.map(({ body }) => body))
    })
  })
  return { seen, begun, agent }
}

describe('N4: a run that is built while its task is written to', () => {
  it('knows a record that was written after its log was read', async () => {
    const { store, held } = createHeldStore()
    const { seen, agent } = rereads()
    const harness = await createHarness({ agents: [agent], store, options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    held.taskId = id
    held.records = signal()
    await harness.engine.resume(alice, { taskId: id })
    await harness.settled()
    await harness.engine.remind(alice, { taskId: id, reminder: { body: 'be brief' } })
    held.records.fire()
    held.records = undefined
    await harness.until(id, 'completed')
    expect(seen).toEqual([['be brief']])
  })

  it('is not told twice of a record that its log had before it was published', async () => {
    const { store, held } = createHeldStore()
    const { seen, agent } = rereads()
    const harness = await createHarness({ agents: [agent], store, options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const read = signal()
    held.taskId = id
    held.records = read
    await harness.engine.resume(alice, { taskId: id })
    const commit = signal()
    held.commit = commit
    const reminding = harness.engine.remind(alice, { taskId: id, reminder: { body: 'be brief' } })
    await harness.settled()
    read.fire()
    held.records = undefined
    await harness.settled()
    commit.fire()
    held.commit = undefined
    await reminding
    await harness.until(id, 'completed')
    expect(seen).toEqual([['be brief']])
  })

  it('that waited for a child without a frame begins with everything written meanwhile', async () => {
    const { store, held } = createHeldStore()
    const seen: string[][] = []
    const parent = running(
      async (task) => {
        await task.turn(async (turn) => {
          await (await task.delegate('worker', 'x')).result()
          await task.step('after', () => undefined)
          seen.push(turn.reminders.map(({ body }) => body))
        })
      },
      { name: 'parent' },
    )
    const begun = signal()
    const go = signal()
    const child = running(async (task) => {
      await task.park({ reason: 'x' })
      begun.fire()
      await task.step('end', () => go.promise)
    })
    const harness = await createHarness({
      agents: [parent, child],
      store,
      options: { warmForMs: 0, cachedTasks: 0 },
    })
    const { id } = await harness.send('go')
    await harness.settled()
    const [childId = ''] = (await harness.get(id)).children
    await harness.until(childId, 'paused-by-agent')
    await harness.settled()
    await harness.engine.remind(alice, { taskId: id, reminder: { body: 'early' } })
    await harness.engine.resume(alice, { taskId: childId })
    // The child is built by now: building it reads the log of its parent too.
    await begun.promise
    const read = signal()
    held.taskId = id
    held.records = read
    go.fire()
    await harness.until(childId, 'completed')
    await harness.settled()
    await harness.engine.remind(alice, { taskId: id, reminder: { body: 'late' } })
    read.fire()
    held.records = undefined
    await harness.until(id, 'completed')
    expect(seen).toEqual([['early', 'late']])
  })

  it('waits for a pause that is being written, and begins only if the pause was refused', async () => {
    const { store, held } = createHeldStore()
    const { seen, begun, agent } = rereads()
    const harness = await createHarness({ agents: [agent], store, options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const read = signal()
    held.taskId = id
    held.records = read
    await harness.engine.resume(alice, { taskId: id })
    const commit = signal()
    held.commit = commit
    const pausing = harness.engine.pause(alice, { taskId: id })
    await harness.settled()
    read.fire()
    held.records = undefined
    await harness.settled()
    expect(begun).toEqual(['go'])
    commit.fire()
    held.commit = undefined
    expect((await pausing).state).toBe('paused-by-client')
    expect(begun).toEqual(['go'])
    expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen).toEqual([[]])
  })
})
