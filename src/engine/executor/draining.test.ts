import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createDelayingStore } from '../test-support/delaying-store.ts'
import {
  aborted,
  alice,
  createHarness,
  type Harness,
  type HarnessOptions,
  running,
} from '../test-support/engine-harness.ts'

/** A store that stops answering when the test says so: no call of these names settles any more. */
function createStallingStore() {
  const inner = createMemoryStore()
  const stalled = new Set<string | symbol>()
  const store = new Proxy(inner, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...args: readonly unknown[]): unknown =>
        stalled.has(name) ? new Promise(() => undefined) : Reflect.apply(member, target, args)
    },
  })
  const stall = (...names: readonly (keyof Store)[]): void => {
    for (const name of names.length > 0 ? names : Reflect.ownKeys(inner)) stalled.add(name)
  }
  return { inner, store, stall }
}

/** By its text: parks, waits for a child that parks, or works until it is stopped (in the next process: not at all). */
const worker = (next = false) =>
  running(
    async (task) => {
      if (task.text === 'park') await task.park({ reason: 'x' })
      if (task.text === 'parent') await (await task.delegate('parker', 'park')).result()
      if (task.text === 'work') {
        await task.step('long', ({ signal }) => (next ? null : aborted(signal)))
      }
    },
    { concurrency: 1 },
  )
const parker = running((task) => task.park({ reason: 'x' }).then(() => undefined), {
  name: 'parker',
})

async function setUp(options: HarnessOptions['options'] = {}) {
  const stalling = createStallingStore()
  const agents = [worker(), parker]
  const harness = await createHarness({ agents, store: stalling.store, options })
  return { ...stalling, harness }
}

/** Drains, and says whether that ended with the clock standing still, in its time, or not at all. */
async function drainOf(harness: Harness): Promise<'at once' | 'in time' | 'never'> {
  let ended = false
  const draining = harness.engine.drain({ timeoutMs: 2_000 }).finally(() => {
    ended = true
  })
  await harness.settled()
  if (ended) return 'at once'
  await harness.pass(2_000)
  await harness.pass(1_000)
  await harness.pass(1_000)
  if (!ended) return 'never'
  await draining
  return 'in time'
}

/** Another process goes on with the store, and every task comes to its end there. */
async function finish(harness: Harness, store: Store): Promise<void> {
  const next = await harness.recover({ store, agents: [worker(true), parker] })
  for (let round = 0; round < 4; round++) {
    await next.settled()
    for (const { id, suspension } of (await next.engine.list(alice)).tasks) {
      if (suspension !== undefined) await next.engine.resume(alice, { taskId: id })
    }
  }
  await next.settled()
  const states = (await next.engine.list(alice)).tasks.map(({ state }) => state)
  expect(new Set(states)).toEqual(new Set(['completed']))
}

describe('a process that stops', () => {
  it('while a run is being built does not wait for its log, and hands the task on', async () => {
    const { harness, inner, stall } = await setUp({ warmForMs: 0 })
    const { id } = await harness.send('park')
    await harness.until(id, 'paused-by-agent')
    stall('records')
    await harness.engine.resume(alice, { taskId: id })
    await harness.settled()
    expect(await drainOf(harness)).toBe('at once')
    const log = await inner.records('acme', id, 0, 100)
    expect(log.map(({ type }) => type)).toContain('released')
    await finish(harness, inner)
  })

  it.each([0, 60_000])(
    'while a parent waits for a slot hands it on (warm for %i ms)',
    async (warmForMs) => {
      const { harness, inner } = await setUp({ warmForMs })
      const parent = await harness.send('parent')
      await harness.settled()
      const [childId = ''] = (await harness.get(parent.id)).children
      const other = await harness.send('work')
      await harness.until(other.id, 'working')
      await harness.engine.resume(alice, { taskId: childId })
      await harness.until(childId, 'completed')
      await harness.settled()
      expect((await harness.engine.health()).runs.busy).toBe(1)
      expect(await drainOf(harness)).toBe('in time')
      expect(await harness.types(parent.id)).toContain('released')
      await finish(harness, inner)
    },
  )

  it('while a task ends does not wait for it until the time is over', async () => {
    const agents = [running((task) => task.step('work', () => 'done'))]
    for (let turns = 0; turns < 60; turns++) {
      const store = createDelayingStore(createMemoryStore(), { seed: turns, turns: 5 })
      const harness = await createHarness({ store, agents })
      await harness.send('ends soon')
      for (let turn = 0; turn < turns; turn++) await new Promise((next) => setImmediate(next))
      // The clock stands still: only what the run itself does can end the drain.
      await harness.engine.drain({ timeoutMs: 10_000 })
    }
  })

  it('while its store has stopped answering ends in time, and every task can go on', async () => {
    const { harness, inner, stall } = await setUp()
    const working = await harness.send('work')
    await harness.until(working.id, 'working')
    await harness.send('park')
    await harness.engine.emit(alice, [{ id: 'e', source: 's', type: 'tick' }])
    await harness.settled()
    stall()
    harness.engine.cancel(alice, { taskId: working.id }).catch(() => undefined)
    harness.engine.emit(alice, [{ id: 'f', source: 's', type: 'tick' }]).catch(() => undefined)
    await harness.settled()
    expect(await drainOf(harness)).toBe('in time')
    expect(harness.said.map(({ text }) => text)).toContain(
      'the store did not answer in time; stopping without it',
    )
    await finish(harness, inner)
  })
})
