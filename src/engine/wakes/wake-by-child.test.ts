/** Parks that end with a child: `task.park({ child })`. */
import { describe, expect, it } from 'vitest'
import type { Wake } from '../../core/suspension.ts'
import type { Json } from '../../core/values/json.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { agent } from '../author/agent.ts'
import type { AgentTask, Child, Park } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  olga,
  running,
} from '../test-support/engine-harness.ts'

const factsOf = ({ cause, child, event }: Wake): Json => ({
  cause,
  child: child === undefined ? null : [child.taskId, child.state],
  event: event?.type ?? null,
})

/** A parent that parks until its child ends, and a child that parks until it is resumed. */
function family(
  parksWith: (child: Child, task: AgentTask) => Omit<Park, 'reason'> = (child) => ({ child }),
  end = async (): Promise<string> => 'child done',
) {
  const parent = running(
    async (task) => {
      const child = await task.delegate('child', 'go')
      const wake = await task.park({ reason: 'child', ...parksWith(child, task) })
      await task.artifact({ name: 'result', data: factsOf(wake) })
      await task.step('after', () => task.id)
    },
    { name: 'parent' },
  )
  const child = agent({
    name: 'child',
    description: 'waits',
    async run(task) {
      await task.park({ reason: 'child waits' })
      return end()
    },
  })
  return [parent, child]
}

async function parked(harness: Harness): Promise<{ id: string; childId: string }> {
  const { id } = await harness.send('go', { agent: 'parent' })
  const { children } = await harness.until(id, 'paused-by-agent')
  const childId = children[0] ?? ''
  await harness.until(childId, 'paused-by-agent')
  return { id, childId }
}

describe('a park with a child', () => {
  it.each([60_000, 0])('ends when the child ends, warm and cold (%i)', async (warmForMs) => {
    const harness = await createHarness({ agents: family(), options: { warmForMs } })
    const { id, childId } = await parked(harness)
    expect((await harness.get(id)).suspension?.children).toEqual([childId])
    await harness.engine.resume(alice, { taskId: childId })
    const facts = { cause: 'condition_fired', child: [childId, 'completed'], event: null }
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toEqual(facts)
    const resumed = (await harness.log(id)).find(({ type }) => type === 'resumed')
    expect(resumed).toMatchObject({ child: { message: { parts: [{ text: 'child done' }] } } })
  })

  it('wakes at once when the child has ended already', async () => {
    const parent = running(
      async (task) => {
        const child = await task.delegate('child', 'go')
        await child.result()
        const { child: ended } = await task.park({ reason: 'late', child })
        return ended?.state
      },
      { name: 'parent' },
    )
    const child = running(async () => undefined, { name: 'child' })
    const harness = await createHarness({ agents: [parent, child] })
    const { id } = await harness.send('go', { agent: 'parent' })
    const { statusMessage } = await harness.until(id, 'completed')
    expect(statusMessage?.parts).toEqual([{ text: 'completed' }])
  })

  it('K1: of several children ends with the first one', async () => {
    const parent = running(
      async (task) => {
        const children = await Promise.all(['a', 'b'].map((name) => task.delegate('child', name)))
        const wake = await task.park({ reason: 'any', child: children })
        await task.artifact({ name: 'result', data: factsOf(wake) })
      },
      { name: 'parent' },
    )
    const [, child] = family()
    const harness = await createHarness({ agents: [parent, ...(child ? [child] : [])] })
    const { id } = await harness.send('go', { agent: 'parent' })
    const { children } = await harness.until(id, 'paused-by-agent')
    await harness.until(children[1] ?? '', 'paused-by-agent')
    await harness.engine.cancel(alice, { taskId: children[1] ?? '' })
    const facts = { cause: 'condition_fired', child: [children[1], 'canceled'], event: null }
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toEqual(facts)
  })

  it('K1: is ended by its timeout or its event if that comes first, and the child then does nothing', async () => {
    const timeout = { afterMs: 1_000, onTimeout: 'resume_with_input' } as const
    const agents = family((child) => ({ child, onEvent: 'built', timeout }))
    for (const first of ['time', 'event']) {
      const harness = await createHarness({ agents })
      const { id, childId } = await parked(harness)
      if (first === 'time') await harness.pass(1_000)
      else await harness.emit('built')
      const result = dataOf(await harness.until(id, 'completed'), 'result')
      expect(result).toMatchObject({
        child: null,
        event: first === 'time' ? 'lull.timeout' : 'built',
      })
      await harness.engine.resume(alice, { taskId: childId })
      await harness.until(childId, 'completed')
      expect((await harness.types(id)).filter((type) => type === 'resumed')).toHaveLength(1)
    }
  })

  it('under a hold ends when the hold is lifted', async () => {
    const harness = await createHarness({ agents: family() })
    const { id, childId } = await parked(harness)
    const { holdId } = await harness.engine.hold(olga, { scope: { taskIds: [id] }, reason: 'stop' })
    await harness.engine.resume(alice, { taskId: childId })
    await harness.until(childId, 'completed')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.engine.lift(olga, holdId)
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toMatchObject({
      child: [childId, 'completed'],
    })
  })

  it('K2: refuses what is no child of the task', async () => {
    const parent = running(async (task) => {
      const other = { id: 'other' }
      return task.park({ reason: 'x', child: other }).then(
        () => 'parked',
        (error: Error) => error.message,
      )
    })
    const harness = await createHarness({ agents: [parent] })
    const { id } = await harness.send('go')
    const { statusMessage } = await harness.until(id, 'completed')
    expect(JSON.stringify(statusMessage?.parts)).toContain('child: must be a child')
  })
})

describe('a process that dies', () => {
  it('after the end of the child and before the wake: the next one wakes the parent', async () => {
    const store = createMemoryStore()
    let harness = await createHarness({ agents: family(), store, options: { warmForMs: 0 } })
    const { id, childId } = await parked(harness)
    harness.engine.resume(alice, { taskId: childId }).catch(() => undefined)
    while ((await store.row('acme', childId))?.state !== 'completed') {
      await new Promise((resolve) => setImmediate(resolve))
    }
    harness.crash()
    expect((await store.row('acme', id))?.state).toBe('paused-by-agent')
    harness = await harness.recover()
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toMatchObject({
      child: [childId, 'completed'],
    })
  })
})
