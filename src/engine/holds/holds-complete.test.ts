/** A hold is complete when it is answered, however busy its tasks are (H2, H3 in holds.ts). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { createDelayingStore } from '../test-support/delaying-store.ts'
import {
  alice,
  createHarness,
  type Harness,
  message,
  running,
  signal,
} from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const everything = { scope: { all: true }, reason: 'panic' } as const

/** Every task writes for ever, and time passes, so that the newest status is always another task's. */
async function busyHarness(tasks: number): Promise<{ harness: Harness; stop: () => void }> {
  const busy = running(
    async (task) => {
      for (;;) await task.say('still busy')
    },
    { concurrency: tasks },
  )
  const store = createDelayingStore(createMemoryStore(), { seed: 7, turns: 3 })
  const harness = await createHarness({ agents: [busy], store })
  let stopped = false
  const tick = (): void => {
    harness.clock.advance(1)
    if (!stopped) setImmediate(tick)
  }
  tick()
  return {
    harness,
    stop: () => {
      stopped = true
      harness.crash()
    },
  }
}

describe('a hold', () => {
  it('H2: misses none of 1,000 tasks that keep writing', async () => {
    const { harness, stop } = await busyHarness(1_000)
    const sent = await Promise.all(Array.from({ length: 1_000 }, (_, n) => harness.send(`${n}`)))
    const { holdId, outcomes } = await harness.engine.hold(root, everything)
    // An operation that was under way may still be written, which `pausing` tells.
    expect(outcomes.map(({ taskId, outcome }) => ({ taskId, outcome }))).toEqual(
      sent
        .map(({ id }) => ({ taskId: id, outcome: 'held' }))
        .sort((a, b) => (a.taskId < b.taskId ? -1 : 1)),
    )
    for (const { id } of sent) expect((await harness.get(id)).holds).toEqual([holdId])
    stop()
  })

  it('H2: and its lifting reach every task, for any number of tasks and moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.nat({ max: 30 }),
        async (count, turns) => {
          const { harness, stop } = await busyHarness(count)
          const sending = Array.from({ length: count }, (_, n) => harness.send(`${n}`))
          for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve))
          // A send that is under way may create its task after the hold.
          const withNew = { ...everything, holdNew: true }
          const { holdId } = await harness.engine.hold(root, withNew)
          const sent = await Promise.all(sending)
          for (const { id } of sent) expect((await harness.get(id)).holds).toEqual([holdId])
          expect(await harness.engine.lift(root, holdId)).toEqual({ holdId, tasks: count })
          for (const { id } of sent) expect((await harness.get(id)).holds).toEqual([])
          stop()
        },
      ),
      { numRuns: 12 },
    )
  })

  it('H3: holds a child whose parent was stopped while it delegated', async () => {
    const go = signal()
    const parent = running(async (task) => {
      await task.step('first', () => go.promise)
      const child = await task.delegate('child', 'hello')
      await child.result()
    })
    const child = running(
      async (task) => {
        await task.park({ reason: 'x' })
      },
      { name: 'child' },
    )
    const harness = await createHarness({ agents: [parent, child] })
    const { id } = await harness.send('go')
    await harness.settled()
    const { holdId } = await harness.engine.hold(root, everything)
    go.fire()
    await harness.settled()
    const { tasks } = await harness.engine.list(alice)
    for (const task of tasks) expect(task.holds).toEqual([holdId])
    await harness.engine.lift(root, holdId)
    await harness.settled()
    expect((await harness.get(id)).state).toBe('working')
  })

  it('H3: holds a task that is created while it is applied', async () => {
    const { harness, stop } = await busyHarness(1_000)
    await Promise.all(Array.from({ length: 300 }, (_, n) => harness.send(`${n}`)))
    let answered = false
    const holding = harness.engine.hold(root, everything).finally(() => {
      answered = true
    })
    const created: string[] = []
    while (!answered) {
      const sent = await harness.engine.send(alice, { message: message('late') })
      if (sent.kind === 'task' && !answered) created.push(sent.task.id)
    }
    const { holdId } = await holding
    expect(created).not.toEqual([])
    for (const id of created) expect((await harness.get(id)).holds).toEqual([holdId])
    stop()
  })
})
