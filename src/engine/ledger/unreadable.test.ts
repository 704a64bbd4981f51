/**
 * One log that cannot be read stops its task alone.
 * L7: ledger.ts.
 */
import { describe, expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import type { StoredTask } from '../../ports/store/tasks.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { AgentTask, Child } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  type Harness,
  olga,
  running,
  signal,
} from '../test-support/engine-harness.ts'

type Damage = (stored: StoredTask) => StoredTask

/** Ways in which a log cannot be folded. */
const damages: Readonly<Record<string, Damage>> = {
  'a record type of a newer version': ({ records }) => ({
    records: records.map((record, index) =>
      index === 1 ? ({ ...record, type: 'from-the-future' } as unknown as LogRecord) : record,
    ),
  }),
  'a gap in the numbers': ({ records }) => ({ records: records.slice(1) }),
  'its last record missing': ({ records, ...rest }) => ({ ...rest, records: records.slice(0, -1) }),
  'a record that cannot follow': ({ records }) => ({
    records: records.map((record, index) =>
      index === 1 ? ({ ...record, type: 'resumed' } as unknown as LogRecord) : record,
    ),
  }),
  'a row that is no JSON': () => {
    throw new LullError('TASK_UNREADABLE', { taskId: 'x', why: 'its log is damaged' })
  },
  'no records at all': () => ({ records: [] }),
}

/** The log of a task is damaged between two processes. */
function damaging(inner: Store, isDamaged: (taskId: string) => boolean, damage: Damage): Store {
  const load: Store['load'] = async (tenant, taskId) => {
    const stored = await inner.load(tenant, taskId)
    return stored !== undefined && isDamaged(taskId) ? damage(stored) : stored
  }
  return { ...inner, load }
}

const refused = { code: 'TASK_UNREADABLE' }

/** One task of an agent with concurrency 1 works and others wait for it; the process dies, and the first log is damaged. */
async function withDamaged(
  damage: Damage,
): Promise<{ harness: Harness; bad: string; good: string[] }> {
  const inner = createMemoryStore()
  const never = signal()
  const agent = (work: () => Promise<void> | undefined) =>
    running((task) => task.step('work', work), { concurrency: 1 })
  const first = await createHarness({ agents: [agent(() => never.promise)], store: inner })
  const tasks = [await first.send('1'), await first.send('2'), await first.send('3')]
  await first.settled()
  const [bad = '', ...good] = tasks.map(({ id }) => id)
  first.crash()
  const store = damaging(inner, (taskId) => taskId === bad, damage)
  const harness = await createHarness({ ...first.given, store, agents: [agent(() => undefined)] })
  return { harness, bad, good }
}

describe.each(Object.entries(damages))('a log with %s', (_name, damage) => {
  it('does not keep the process from starting, nor other tasks of its agent from running', async () => {
    const { harness, good } = await withDamaged(damage)
    for (const id of good) await harness.until(id, 'completed')
    expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    const { id } = await harness.send('4')
    await harness.until(id, 'completed')
  })

  it('is shown as paused by policy, in lists too, and is logged once', async () => {
    const { harness, bad, good } = await withDamaged(damage)
    for (const id of good) await harness.until(id, 'completed')
    const { tasks, total } = await harness.engine.list(alice)
    expect(total).toBe(3)
    const shown = tasks.find(({ id }) => id === bad)
    expect(shown).toMatchObject({
      state: 'paused-by-client',
      suspension: { reason: 'unreadable', actor: { kind: 'policy' } },
    })
    expect(await harness.get(bad)).toEqual(shown)
    await harness.pass(60_000)
    const lines = harness.said.filter(({ facts }) => facts?.['taskId'] === bad)
    expect(lines.map(({ text }) => text)).toEqual([
      'the log of a task cannot be read; the task is stopped, all others go on',
    ])
    expect((await harness.engine.health()).unreadable).toBe(1)
  })

  it('L7: refuses every command and every stream of that task', async () => {
    const { harness, bad } = await withDamaged(damage)
    await harness.settled()
    const { engine } = harness
    const calls = [
      harness.tell(bad, 'more'),
      engine.resume(alice, { taskId: bad }),
      engine.pause(alice, { taskId: bad }),
      engine.cancel(alice, { taskId: bad }),
      engine.remind(alice, { taskId: bad, reminder: { body: 'x' } }),
      engine.subscribe(alice, bad),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect((call as PromiseRejectedResult).reason).toMatchObject(refused)
    }
  })

  it('does not keep a hold of everything from being set and lifted', async () => {
    const { harness, bad, good } = await withDamaged(damage)
    for (const id of good) await harness.until(id, 'completed')
    const { holdId, outcomes } = await harness.engine.hold(olga, {
      scope: { all: true },
      reason: 'x',
    })
    expect(outcomes).toEqual([{ taskId: bad, outcome: 'unknown' }])
    await harness.engine.lift(olga, holdId)
  })
})

describe('a damaged log', () => {
  const [damage] = Object.values(damages) as [Damage]

  it('of a parked task keeps neither deadlines nor events from other tasks', async () => {
    const inner = createMemoryStore()
    const agent = running(async (task) => {
      await task.park({ reason: 'x', onEvent: 'go', timeout: { durationMinutes: 1 } })
    })
    const first = await createHarness({ agents: [agent], store: inner })
    const [bad, early, late] = await Promise.all(['1', '2', '3'].map((text) => first.send(text)))
    for (const { id } of [bad, early, late].map((task) => task ?? { id: '' })) {
      await first.until(id, 'paused-by-agent')
    }
    first.crash()
    const store = damaging(inner, (taskId) => taskId === bad?.id, damage)
    const harness = await createHarness({ ...first.given, store })
    await harness.emit('go')
    await harness.until(early?.id ?? '', 'completed')
    await harness.pass(61_000)
    await harness.until(late?.id ?? '', 'completed')
    expect((await harness.get(bad?.id ?? '')).suspension?.reason).toBe('unreadable')
    expect(harness.said.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  it('of a child does not keep its parent from being cancelled', async () => {
    const inner = createMemoryStore()
    const child = running((task) => task.park({ reason: 'x' }).then(() => undefined), {
      name: 'child',
    })
    const parent = running(
      async (task) => {
        await (await task.delegate('child', 'x')).result()
      },
      { name: 'parent' },
    )
    const first = await createHarness({ agents: [parent, child], store: inner })
    const { id } = await first.send('go')
    await first.settled()
    const [childId = ''] = (await first.get(id)).children
    first.crash()
    const store = damaging(inner, (taskId) => taskId === childId, damage)
    const harness = await createHarness({ ...first.given, store })
    await harness.settled()
    await harness.engine.cancel(alice, { taskId: id })
    await harness.pass(5_000)
    expect((await harness.get(id)).state).toBe('canceled')
    expect(harness.said.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  const waits: Readonly<Record<string, (task: AgentTask, child: Child) => Promise<unknown>>> = {
    'its result': async (_task, child) => (await child.result()).state,
    'its result inside a step': (task, child) =>
      task.step('waits', async () => (await child.result()).state),
    'its records': async (_task, child) => {
      for await (const _record of child.watch()) {
        // Watching is all it does.
      }
    },
    'its records inside a step': (task, child) =>
      task.step('watches', async () => {
        for await (const _record of child.watch()) {
          // Watching is all it does.
        }
      }),
  }

  /** A parent that waits for a parked child. */
  async function waitingParent(
    wait: (task: AgentTask, child: Child) => Promise<unknown>,
    store: Store,
    warmForMs = 0,
  ): Promise<{ harness: Harness; id: string; childId: string }> {
    const child = running((task) => task.park({ reason: 'x', onEvent: 'go' }).then(() => 'done'), {
      name: 'child',
    })
    const parent = running(
      async (task) => {
        await wait(task, await task.delegate('child', 'x'))
      },
      { name: 'parent', concurrency: 1 },
    )
    const options = { cachedTasks: 1, warmForMs }
    const harness = await createHarness({ agents: [parent, child], store, options })
    const { id } = await harness.send('go')
    await harness.settled()
    const [childId = ''] = (await harness.get(id)).children
    return { harness, id, childId }
  }

  async function expectStopped(harness: Harness, id: string, childId: string): Promise<void> {
    const parent = await harness.get(id)
    expect(parent.state).toBe('paused-by-client')
    expect(parent.suspension).toMatchObject({
      actor: { kind: 'policy', id: 'child-unreadable' },
      reason: 'child-unreadable',
      summary: expect.stringContaining(childId),
    })
    expect((await harness.engine.health()).runs.busy).toBe(0)
    expect(harness.said.filter(({ level }) => level === 'error')).toHaveLength(1)
  }

  it.each(Object.entries(waits))(
    'of a child whose parent waits for %s stops the parent visibly, until the log can be read again',
    async (_name, wait) => {
      const inner = createMemoryStore()
      const { harness: first, id, childId } = await waitingParent(wait, inner)
      first.crash()
      const store = damaging(inner, (taskId) => taskId === childId, damage)
      const harness = await createHarness({ ...first.given, store })
      await harness.pass(60_000)
      await expectStopped(harness, id, childId)
      await harness.engine.resume(alice, { taskId: id })
      await harness.settled()
      await expectStopped(harness, id, childId)
      const healed = await harness.restart({ store: inner })
      await healed.emit('go')
      await healed.engine.resume(alice, { taskId: id })
      expect((await healed.ended(id)).state).toBe('completed')
    },
  )

  it.each([
    ['its result', 0],
    ['its result', 60_000],
    ['its result inside a step', 60_000],
    ['its records', 60_000],
    ['its records inside a step', 60_000],
  ])(
    'of a child that is found while its parent waits for %s stops the parent too (warm for %i ms)',
    async (how, warmForMs) => {
      const inner = createMemoryStore()
      let isDamaged = false
      const store = damaging(inner, (taskId) => isDamaged && taskId === childId, damage)
      const wait = waits[how] ?? (() => Promise.reject(new Error(how)))
      const { harness, id, childId } = await waitingParent(wait, store, warmForMs)
      isDamaged = true
      // The child leaves memory: one task is kept.
      await harness.send('another')
      await harness.settled()
      expect((await harness.get(childId)).suspension?.reason).toBe('unreadable')
      await harness.settled()
      await expectStopped(harness, id, childId)
    },
  )

  it('of a task that ended is removed after its time, and is not counted any more', async () => {
    const inner = createMemoryStore()
    const options = { tasksForMs: 1_000 }
    const first = await createHarness({ store: inner, options })
    const { id } = await first.send('x')
    await first.ended(id)
    first.crash()
    const store = damaging(inner, (taskId) => taskId === id, damage)
    const harness = await createHarness({ ...first.given, store })
    expect((await harness.get(id)).suspension?.reason).toBe('unreadable')
    await harness.pass(2_000)
    expect(await harness.engine.prune()).toMatchObject({ tasks: 1 })
    await expect(harness.get(id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    expect((await harness.engine.health()).unreadable).toBe(0)
  })

  it('of a task that has not ended is kept, and keeps no other task from being removed', async () => {
    const inner = createMemoryStore()
    const agent = running(async (task) => {
      if (task.text === 'park') await task.park({ reason: 'x' })
    })
    const first = await createHarness({
      agents: [agent],
      store: inner,
      options: { tasksForMs: 1_000 },
    })
    const bad = await first.send('park')
    const ended = await first.send('end')
    await first.until(bad.id, 'paused-by-agent')
    await first.ended(ended.id)
    first.crash()
    const store = damaging(inner, (taskId) => taskId === bad.id, damage)
    const harness = await createHarness({ ...first.given, store })
    expect((await harness.get(bad.id)).suspension?.reason).toBe('unreadable')
    await harness.pass(2_000)
    expect(await harness.engine.prune()).toMatchObject({ tasks: 1 })
    expect((await harness.get(bad.id)).suspension?.reason).toBe('unreadable')
    expect((await harness.engine.health()).unreadable).toBe(1)
  })
})
