import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { AgentTask } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  running,
  signal,
} from '../test-support/engine-harness.ts'

/** A parent that does as the test says, and a child that parks until it is resumed. */
function family(
  parent: (task: AgentTask) => Promise<unknown>,
  child: (task: AgentTask) => Promise<unknown> = async (task) => {
    const { input } = await task.park({ reason: 'child waits' })
    await task.artifact({ name: 'input', data: input })
  },
  concurrency = 64,
) {
  const keep = async (task: AgentTask, run: typeof parent): Promise<void> => {
    const result = await run(task)
    if (result !== undefined) await task.artifact({ name: 'result', data: result as Json })
  }
  return [
    running((task) => keep(task, parent), { name: 'parent', concurrency }),
    running((task) => keep(task, child), { name: 'child', concurrency }),
  ]
}

async function childOf(harness: Harness, id: string): Promise<string> {
  const { children } = await harness.until(id, (task) => task.children.length > 0)
  await harness.settled()
  return children[0] ?? ''
}

describe('a child', () => {
  it('is a task of its own, in the context and for the principal of its parent', async () => {
    const harness = await createHarness({
      agents: family(async (task) => {
        const child = await task.delegate('child', 'do this')
        const { state, artifacts } = await child.result()
        return { state, artifacts: artifacts.map((one) => one.name ?? '') }
      }),
    })
    const { id, contextId } = await harness.send('go')
    const childId = await childOf(harness, id)
    const child = await harness.until(childId, 'paused-by-agent')
    expect(child).toMatchObject({ parentId: id, contextId, principal: 'alice', agent: 'child' })
    expect((await harness.get(id)).state).toBe('working')
    await harness.engine.resume(alice, { taskId: childId, input: 5 })
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toEqual({
      state: 'completed',
      artifacts: ['input'],
    })
  })

  it('of an unknown agent is refused before anything is written', async () => {
    const harness = await createHarness({
      agents: family((task) => task.delegate('nobody', 'x').catch((e: { code: string }) => e.code)),
    })
    const { id } = await harness.send('go')
    const ended = await harness.until(id, 'completed')
    expect(dataOf(ended, 'result')).toBe('AGENT_UNKNOWN')
    expect(ended.children).toEqual([])
  })

  it('that is waited for frees the slot of its parent, also when both are of one agent', async () => {
    const agent = running(
      async (task) => {
        const depth = Number(task.text)
        if (depth === 0) return
        const children = await Promise.all(
          [1, 2, 3].map(() => task.delegate('worker', String(depth - 1))),
        )
        await Promise.all(children.map((child) => child.result()))
      },
      { concurrency: 1 },
    )
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('2')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('completed')
    expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
  })

  it('that fails does not fail its parent', async () => {
    const harness = await createHarness({
      agents: family(
        async (task) => (await (await task.delegate('child', 'x')).result()).state,
        async () => {
          throw new Error('boom')
        },
      ),
    })
    const { id } = await harness.send('go')
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toBe('failed')
  })

  it('is controlled by its parent: pause, resume, remind, cancel', async () => {
    const go = signal()
    const harness = await createHarness({
      agents: family(
        async (task) => {
          const child = await task.delegate('child', 'x')
          await task.step('wait', () => go.promise)
          await child.pause({ reason: 'not now' })
          await child.remind({ body: 'be brief', id: 'r-1' })
          const paused = (await child.get()).state
          await child.resume({ input: 1 })
          await child.cancel('enough')
          const refused = await child.pause().catch((error: { code: string }) => error.code)
          return [paused, (await child.result()).state, refused]
        },
        async (task) => {
          await task.step('long', () => go.promise)
          await task.park({ reason: 'until cancelled' })
        },
      ),
    })
    const { id } = await harness.send('go')
    const childId = await childOf(harness, id)
    await harness.until(childId, 'working')
    await harness.settled()
    go.fire()
    const ended = await harness.until(id, 'completed')
    expect(dataOf(ended, 'result')).toEqual(['paused-by-client', 'canceled', 'TASK_NOT_PAUSABLE'])
    const log = await harness.log(childId)
    expect(log.find((record) => record.type === 'canceled')).toMatchObject({
      actor: { kind: 'parent', id },
      reason: 'enough',
    })
  })
})

describe('a parent', () => {
  it('that is cancelled takes its children along, and theirs', async () => {
    const agent = running(async (task) => {
      if (task.text === '0') await task.park({ reason: 'leaf' })
      else await (await task.delegate('worker', String(Number(task.text) - 1))).result()
    })
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('2')
    const child = await childOf(harness, id)
    const leaf = await childOf(harness, child)
    await harness.until(leaf, 'paused-by-agent')
    await harness.engine.cancel(alice, { taskId: id })
    expect((await harness.get(child)).state).toBe('canceled')
    expect((await harness.get(leaf)).state).toBe('canceled')
  })

  it('that is cancelled at any moment leaves no child behind', async () => {
    const agent = running(async (task) => {
      if (task.text === '0') return void (await task.park({ reason: 'leaf' }))
      const both = ['a', 'b'].map(() => task.delegate('worker', String(Number(task.text) - 1)))
      await Promise.all(both.map(async (child) => (await child).result()))
    })
    for (let moment = 0; moment < 25; moment++) {
      const harness = await createHarness({ agents: [agent] })
      const { id } = await harness.send('2')
      for (let turn = 0; turn < moment; turn++) await new Promise((go) => setImmediate(go))
      await harness.engine.cancel(alice, { taskId: id })
      await harness.settled()
      const left = (await harness.engine.list(alice)).tasks.filter(
        ({ state }) => state !== 'canceled',
      )
      expect(left).toEqual([])
      expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    }
  })

  it('that was cancelled by a process that died then still takes its children along', async () => {
    const store = createMemoryStore()
    const agent = running(async (task) => {
      if (task.text === '0') await task.park({ reason: 'leaf' })
      else await (await task.delegate('worker', String(Number(task.text) - 1))).result()
    })
    let harness = await createHarness({ agents: [agent], store })
    const { id } = await harness.send('2')
    const child = await childOf(harness, id)
    const leaf = await childOf(harness, child)
    await harness.until(leaf, 'paused-by-agent')
    harness.engine.cancel(alice, { taskId: id }).catch(() => undefined)
    // Dies with the cancel of the parent written, and nothing more.
    while ((await store.list({ states: ['canceled'], limit: 1 })).length === 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    harness.crash()
    expect((await store.list({ states: ['canceled'], limit: 9 })).length).toBe(1)
    harness = await harness.recover()
    await harness.settled()
    expect((await harness.get(child)).state).toBe('canceled')
    expect((await harness.get(leaf)).state).toBe('canceled')
  })

  it('that is paused leaves its children alone, unless they are to be paused too', async () => {
    const go = signal()
    const harness = await createHarness({
      agents: family(
        async (task) => (await (await task.delegate('child', 'x')).result()).state,
        async (task) => {
          await task.step('long', () => go.promise)
          await task.step('more', () => undefined)
        },
      ),
    })
    const { id } = await harness.send('go')
    const childId = await childOf(harness, id)
    await harness.until(childId, 'working')
    await harness.settled()
    expect((await harness.engine.pause(alice, { taskId: id })).state).toBe('paused-by-client')
    expect((await harness.get(childId)).pausing).toBeUndefined()
    await harness.engine.resume(alice, { taskId: id })

    const both = harness.engine.pause(alice, { taskId: id, cascade: true })
    await harness.settled()
    go.fire()
    await both
    const child = await harness.get(childId)
    expect(child.state).toBe('paused-by-client')
    expect(child.suspension?.actor).toEqual({ kind: 'parent', id })
    await harness.engine.resume(alice, { taskId: childId })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
  })

  it('can be paused at once while it waits, and goes on when resumed after the child ended', async () => {
    const harness = await createHarness({
      agents: family(async (task) => (await (await task.delegate('child', 'x')).result()).state),
    })
    const { id } = await harness.send('go')
    const childId = await childOf(harness, id)
    await harness.until(childId, 'paused-by-agent')
    expect((await harness.engine.pause(alice, { taskId: id })).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: childId })
    await harness.until(childId, 'completed')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
  })

  it.each([0, 60_000])(
    'that left memory while it waited goes on when the child ends (%i ms)',
    async (warmForMs) => {
      const begun = effects()
      const harness = await createHarness({
        options: { warmForMs, cachedTasks: 1 },
        agents: family(async (task) => {
          begun.note('parent')
          return (await (await task.delegate('child', 'x')).result()).state
        }),
      })
      const { id } = await harness.send('go')
      const childId = await childOf(harness, id)
      await harness.until(childId, 'paused-by-agent')
      await harness.pass(60_000)
      expect((await harness.engine.health()).runs.live).toBe(0)
      await harness.engine.resume(alice, { taskId: childId })
      await harness.until(id, 'completed')
      expect(begun.count('parent')).toBe(2)
      await harness.settled()
      expect((await harness.engine.health()).runs.busy).toBe(0)
    },
  )

  it('waits for its slot when it is taken meanwhile, and leaks none when it is cancelled there', async () => {
    const go = signal()
    const harness = await createHarness({
      agents: family(
        async (task) => {
          if (task.text === 'block') return task.step('block', () => go.promise)
          return (await (await task.delegate('child', 'x')).result()).state
        },
        undefined,
        1,
      ),
    })
    const { id } = await harness.send('go')
    const childId = await childOf(harness, id)
    await harness.until(childId, 'paused-by-agent')
    await harness.settled()
    const blocker = await harness.send('block')
    await harness.until(blocker.id, 'working')
    await harness.engine.resume(alice, { taskId: childId })
    await harness.until(childId, 'completed')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('working')
    await harness.engine.cancel(alice, { taskId: id })
    go.fire()
    await harness.until(blocker.id, 'completed')
    await harness.settled()
    expect((await harness.engine.health()).runs.busy).toBe(0)
  })

  it('that dies between recording and making its child makes it when rebuilt, once', async () => {
    const store = createMemoryStore()
    const commit = store.commit.bind(store)
    let dead = false
    const failing = Object.assign(Object.create(store) as typeof store, {
      commit: async (batch: Parameters<typeof commit>[0]) => {
        const births = batch.filter((one) => one.expected === 0)
        if (dead || births.some((one) => one.row?.agent === 'child')) {
          dead = true
          return new Promise<never>(() => undefined)
        }
        return commit(batch)
      },
    })
    const agents = family(async (task) => {
      const child = await task.delegate('child', 'x')
      return (await child.result()).state
    })
    const first = await createHarness({ agents, store: failing })
    const { id } = await first.send('go')
    const childId = await childOf(first, id)
    await first.settled()
    expect(await store.load('acme', childId)).toBeUndefined()

    const second = await first.recover({ store })
    await second.settled()
    await second.until(childId, 'paused-by-agent')
    await second.engine.resume(alice, { taskId: childId })
    const ended = await second.until(id, 'completed')
    expect(ended.children).toEqual([childId])
  })
})
