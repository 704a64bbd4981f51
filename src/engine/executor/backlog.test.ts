import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { alice, createHarness, message, running } from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { type BacklogDeps, createBacklog } from './backlog.ts'

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

describe('tasks of several tenants that wait for a slot', () => {
  const tenant = (name: string) => ({ tenant: name, principal: 'ann' })

  /** An agent whose tasks run until the test ends them. */
  async function setUp(concurrency: number, tenantShare: number, store = createMemoryStore()) {
    const started: string[] = []
    const ends = new Map<string, () => void>()
    const agent = running(
      async (task) => {
        started.push(task.text)
        await task.step('long', () => new Promise<void>((end) => ends.set(task.text, end)))
      },
      { concurrency },
    )
    const harness = await createHarness({ agents: [agent], options: { tenantShare }, store })
    const send = async (of: string, text: string): Promise<void> => {
      await harness.engine.send(tenant(of), { message: message(text) })
      await harness.settled()
    }
    const end = async (text: string): Promise<void> => {
      ends.get(text)?.()
      await harness.settled()
    }
    return { harness, started, send, end }
  }

  it('start at once, though another tenant has sent more long tasks than there are slots', async () => {
    const { started, send } = await setUp(8, 0.75)
    for (let n = 0; n < 20; n++) await send('greedy', `g${n}`)
    expect(started).toHaveLength(6)
    await send('other', 'o')
    await send('third', 't')
    expect(started.slice(6)).toEqual(['o', 't'])
  })

  it('B1: start in turn, those of one tenant in their order', async () => {
    const { started, send, end } = await setUp(1, 1)
    for (const text of ['a1', 'a2', 'a3']) await send('a', text)
    for (const text of ['b1', 'b2']) await send('b', text)
    for (const text of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(text)
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
  })

  it('B2: use every slot that their tenant may take when one is freed', async () => {
    const { started, send, end } = await setUp(4, 0.75)
    for (let n = 0; n < 6; n++) await send('a', `a${n}`)
    expect(started).toEqual(['a0', 'a1', 'a2'])
    for (const text of ['a0', 'a1', 'a2', 'a3', 'a4', 'a5']) await end(text)
    expect(started).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
  })

  it('B2: are asked for only as far as their tenants may take slots', async () => {
    const store = createMemoryStore()
    const { ready } = store
    const handedOut: string[] = []
    store.ready = async (...query) => {
      const tasks = await ready(...query)
      handedOut.push(...tasks.map(({ taskId }) => taskId))
      return tasks
    }
    const { started, send, end } = await setUp(8, 0.75, store)
    for (let n = 0; n < 12; n++) await send('a', `a${n}`)
    expect(started).toHaveLength(6)
    for (const text of ['a0', 'a1']) await end(text)
    expect([started.length, handedOut.length]).toEqual([8, 2])
  })

  it('B2: start after a crash, orphans of a tenant that may have no more slots last', async () => {
    const { harness, started, send } = await setUp(4, 0.75)
    for (const text of ['a1', 'a2', 'a3', 'a4']) await send('a', text)
    await send('b', 'b1')
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1'])
    started.length = 0
    const next = await harness.recover()
    await next.settled()
    expect([...started].sort()).toEqual(['a1', 'a2', 'a3', 'b1'])
  })
})

describe('a page of waiting tasks', () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  /** A backlog whose store has one task of each tenant. Its slots are as the test says. */
  function setUp({ reading, ...deps }: Partial<BacklogDeps> & { reading?: () => void }) {
    const asked: (readonly string[])[] = []
    const waiting = new Set(['a', 'b'])
    const backlog = createBacklog({
      store: {
        async ready(_agent, limit, except = []) {
          asked.push(except)
          reading?.()
          if (asked.length > 9) throw new Error('the backlog asks without end')
          const tenants = [...waiting].filter((tenant) => !except.includes(tenant))
          return tenants.slice(0, limit).map((tenant) => ({ taskId: `of-${tenant}`, tenant }))
        },
      },
      clock: createManualClock(),
      log: () => undefined,
      room: () => 1,
      fullTenants: () => [],
      start: async () => false,
      ...deps,
    })
    return { backlog, asked, waiting }
  }

  it('is the last one of its tenants when none of its tasks got a slot', async () => {
    const { backlog, asked } = setUp({})
    backlog.addReady('travel')
    await turn()
    await turn()
    expect(asked).toEqual([[], ['a'], ['a', 'b']])
  })

  it('B2: is read again when a slot became free while the store was read', async () => {
    let full = ['a', 'b']
    const started: string[] = []
    const { backlog, waiting } = setUp({
      room: () => waiting.size,
      fullTenants: () => full,
      async start(taskId, { tenant }) {
        waiting.delete(tenant)
        started.push(taskId)
        return true
      },
      reading() {
        if (full.length === 0) return
        full = []
        backlog.pull('travel')
      },
    })
    backlog.addReady('travel')
    await turn()
    await turn()
    expect(started).toEqual(['of-a', 'of-b'])
  })
})
