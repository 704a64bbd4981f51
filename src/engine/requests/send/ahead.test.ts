/** An agent's code begins while its task is being written. Nothing of it may be seen before that is durable. */
import { describe, expect, it } from 'vitest'
import {
  alice,
  createHarness,
  effects,
  message,
  olga,
  running,
} from '../../test-support/engine-harness.ts'
import { createFaultyStore } from '../../test-support/faulty-store.ts'

const UUID = '0199aaaa-0000-7000-8000-00000000000a'

describe('a task that begins while it is written', () => {
  it('is one commit when its code ends at once, and so is one that fails', async () => {
    for (const run of [() => 'done', () => ({ name: 'x', text: 'y' })]) {
      const faulty = createFaultyStore()
      const harness = await createHarness({ store: faulty.store, agents: [running(run)] })
      const task = await harness.send('x')
      expect((await harness.ended(task.id)).state).toBe('completed')
      expect(faulty.batches).toEqual([1])
    }
    const faulty = createFaultyStore()
    const failing = running(() => {
      throw new Error('no')
    })
    const harness = await createHarness({ store: faulty.store, agents: [failing] })
    expect((await harness.ended((await harness.send('x')).id)).state).toBe('failed')
    expect(faulty.batches).toEqual([1])
  })

  it('runs no step, publishes nothing and answers no caller before it is durable', async () => {
    const faulty = createFaultyStore()
    const done = effects()
    const agent = running(async (task) => {
      done.note('code')
      await task.step('work', () => done.note('step'))
    })
    const harness = await createHarness({ store: faulty.store, agents: [agent] })
    harness.engine.watch(({ state }) => done.note(state))
    const gate = faulty.hold()
    const sending = harness.send('x').then((task) => {
      done.note('answer')
      return task
    })
    await harness.settled()
    expect(done.list).toEqual(['code'])
    gate.fire()
    await harness.ended((await sending).id)
    expect(done.list.slice(0, 2)).toEqual(['code', 'working'])
    expect([done.count('step'), done.count('answer')]).toEqual([1, 1])
  })

  it('makes no child before it is durable', async () => {
    const faulty = createFaultyStore()
    const parent = running(
      async (task) => {
        const child = await task.delegate('worker', 'help')
        await child.result()
      },
      { name: 'parent' },
    )
    const harness = await createHarness({
      store: faulty.store,
      agents: [parent, running(() => 'ok')],
    })
    const gate = faulty.hold()
    const sending = harness.send('x')
    await harness.settled()
    expect(await harness.store.count({})).toBe(0)
    gate.fire()
    expect((await harness.ended((await sending).id)).state).toBe('completed')
  })

  it('leaves nothing behind when it cannot be written: no task, no run, no slot', async () => {
    const faulty = createFaultyStore()
    const agent = running(() => 'done', { concurrency: 1 })
    const harness = await createHarness({ store: faulty.store, agents: [agent] })
    faulty.writesFail = true
    await expect(harness.send('x')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await harness.settled()
    faulty.writesFail = false
    expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    expect((await harness.engine.list(olga)).tasks).toEqual([])
    expect((await harness.ended((await harness.send('x')).id)).state).toBe('completed')
  })

  it('does not begin twice for one message: at once, later, or in the next process', async () => {
    const done = effects()
    const agents = [running(() => done.note('code'))]
    const harness = await createHarness({ agents })
    const same = { message: message('x', { messageId: UUID }) }
    const sent = await Promise.all([1, 2, 3].map(() => harness.engine.send(alice, same)))
    expect(sent.map(({ repeated }) => repeated)).toEqual([false, true, true])
    await harness.settled()
    await harness.engine.send(alice, same)
    const next = await harness.restart({ agents })
    expect((await next.engine.send(alice, same)).repeated).toBe(true)
    await next.settled()
    expect(done.list).toEqual(['code'])
  })

  it('is found by a hold that came while it was written', async () => {
    const faulty = createFaultyStore()
    const agent = running((task) => task.park({ reason: 'x' }).then(() => undefined))
    const harness = await createHarness({ store: faulty.store, agents: [agent] })
    const gate = faulty.hold()
    const sending = harness.send('x')
    await harness.settled()
    const holding = harness.engine.hold(olga, {
      scope: { all: true },
      reason: 'stop',
      holdNew: true,
    })
    await harness.settled()
    gate.fire()
    const { id } = await sending
    const { outcomes } = await holding
    expect(outcomes).toEqual([{ taskId: id, outcome: 'held' }])
    expect((await harness.get(id)).holds).toHaveLength(1)
  })
})
