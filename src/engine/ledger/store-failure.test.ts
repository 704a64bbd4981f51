/** When the store fails: callers are told, nothing is told as success, and running tasks wait and go on. */
import { describe, expect, it } from 'vitest'
import type { AgentTask } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  message,
  olga,
  running,
  signal,
} from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'

async function withTask(run: (task: AgentTask) => Promise<unknown>) {
  const faulty = createFaultyStore()
  const agent = running(async (task) => {
    await run(task)
  })
  const harness = await createHarness({ agents: [agent], store: faulty.store })
  const { id } = await harness.send('go')
  await harness.settled()
  return { faulty, harness, id }
}

const unavailable = { code: 'STORE_UNAVAILABLE' }

describe('while the store cannot write', () => {
  it('every call that writes is refused, and changes nothing', async () => {
    const { faulty, harness, id } = await withTask((task) =>
      task.park({ reason: 'x', onEvent: 'e' }),
    )
    const log = await harness.log(id)
    faulty.writesFail = true
    const { engine } = harness
    const calls = [
      engine.send(alice, { message: message('new') }),
      engine.send(alice, { message: { ...message('more'), taskId: id } }),
      engine.resume(alice, { taskId: id }),
      engine.cancel(alice, { taskId: id }),
      engine.remind(alice, { taskId: id, reminder: { body: 'x' } }),
      engine.hold(olga, { scope: { all: true }, reason: 'x' }),
      engine.emit(alice, [{ id: '1', source: 's', type: 'e' }]),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect((call as PromiseRejectedResult).reason).toMatchObject(unavailable)
    }
    expect(await harness.log(id)).toEqual(log)
    expect((await engine.list(alice)).total).toBe(1)
    expect(await engine.holds(olga)).toEqual([])
    expect((await engine.health()).runs.busy).toBe(0)
  })

  it('reads keep working, and health says what is wrong', async () => {
    const { faulty, harness, id } = await withTask((task) => task.park({ reason: 'x' }))
    faulty.writesFail = true
    expect((await harness.engine.get(alice, id)).state).toBe('paused-by-agent')
    expect((await harness.engine.list(alice)).tasks).toHaveLength(1)
    const { ready, store } = await harness.engine.health()
    expect({ ready, store }).toEqual({
      ready: false,
      store: { error: 'The store is unavailable: the disk is on fire' },
    })
  })

  it('a running task waits with its record and goes on when the store is back, each step once', async () => {
    const done = effects()
    const gates = [signal(), signal()]
    const { faulty, harness, id } = await withTask(async (task) => {
      await Promise.all(
        gates.map(async (gate, index) => {
          await task.step(`${index}`, async () => {
            await gate.promise
            done.note(`${index}`)
          })
          done.note(`after ${index}`)
        }),
      )
      await task.say('done')
    })
    faulty.writesFail = true
    for (const gate of gates) gate.fire()
    await harness.pass(60_000)
    expect(done.list).toEqual(['0', '1'])
    faulty.writesFail = false
    await harness.pass(10_000)
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['0', '1', 'after 0', 'after 1'])
  })

  it('a pause is refused and leaves the run as it was', async () => {
    const done = effects()
    const go = signal()
    const { faulty, harness, id } = await withTask(async (task) => {
      await task.step('one', () => go.promise)
      await task.step('two', () => done.note('two'))
    })
    faulty.writesFail = true
    await expect(harness.engine.pause(alice, { taskId: id })).rejects.toMatchObject(unavailable)
    const mode = 'interrupt_immediate'
    await expect(harness.engine.pause(alice, { taskId: id, mode })).rejects.toMatchObject(
      unavailable,
    )
    faulty.writesFail = false
    go.fire()
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['two'])
  })

  it('a pause of a run that stood still is refused and lets it go on', async () => {
    const { faulty, harness, id } = await withTask(async (task) => {
      const flaky = ({ attempt }: { attempt: number }) => {
        if (attempt === 1) throw new Error('once')
      }
      await task.step('flaky', flaky, { retry: { attempts: 1, backoffMs: 5_000 } })
    })
    faulty.writesFail = true
    await expect(harness.engine.pause(alice, { taskId: id })).rejects.toMatchObject(unavailable)
    faulty.writesFail = false
    await harness.pass(5_000)
    await harness.until(id, 'completed')
  })

  it('no record is lost to a pause that is accepted as soon as the store is back', async () => {
    const done = effects()
    const go = signal()
    const { faulty, harness, id } = await withTask(async (task) => {
      await task.step('one', async () => {
        await go.promise
        done.note('one')
      })
    })
    faulty.writesFail = true
    go.fire()
    await harness.settled()
    faulty.writesFail = false
    // The run still waits before it tries again; the pause must not come before its record.
    const pausing = harness.engine.pause(alice, { taskId: id })
    await harness.pass(1_000)
    expect((await pausing).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['one'])
  })

  it('a park, a question and an end wait as well', async () => {
    const { faulty, harness, id } = await withTask(async (task) => {
      await task.ask('first?')
      await task.park({ reason: 'then' })
    })
    await harness.until(id, 'input-required')
    await harness.tell(id, 'answer')
    faulty.writesFail = true
    await harness.pass(1_000)
    faulty.writesFail = false
    await harness.pass(20_000)
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    faulty.writesFail = true
    await harness.pass(1_000)
    faulty.writesFail = false
    await harness.pass(20_000)
    await harness.until(id, 'completed')
  })

  it('a child is made when the store is back', async () => {
    const go = signal()
    const child = running(() => 'hello', { name: 'child' })
    const parent = running(
      async (task) => {
        await task.step('wait', () => go.promise)
        const { state } = await (await task.delegate('child', 'x')).result()
        await task.artifact({ name: 'state', data: state })
      },
      { name: 'parent' },
    )
    const faulty = createFaultyStore()
    const harness = await createHarness({ agents: [parent, child], store: faulty.store })
    const { id } = await harness.send('go')
    faulty.breaksAt = ({ row, expected }) => expected === 0 && row?.agent === 'child'
    go.fire()
    await harness.pass(5_000)
    faulty.breaksAt = () => false
    await harness.pass(5_000)
    expect(dataOf(await harness.until(id, 'completed'), 'state')).toBe('completed')
  })

  it('a deadline that falls due fires when the store is back', async () => {
    const { faulty, harness, id } = await withTask((task) => task.sleep(1_000))
    faulty.writesFail = true
    await harness.pass(5_000)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    faulty.writesFail = false
    await harness.pass(5_000)
    await harness.until(id, 'completed')
  })

  it('a policy that stops a task does so when the store is back', async () => {
    const faulty = createFaultyStore()
    const agent = running(async (task) => {
      for (let n = 0; n < 12; n++) await task.say(`${n}`)
      await task.step('long', () => new Promise(() => undefined))
    })
    const harness = await createHarness({
      agents: [agent],
      store: faulty.store,
      options: { journalRecords: 10 },
    })
    let failures = 0
    faulty.breaksAt = ({ records }) =>
      records.some((record) => record.type === 'pause-requested') && failures++ < 2
    const { id } = await harness.send('go')
    await harness.pass(1_000)
    await harness.pass(1_000)
    await harness.until(id, (task) => task.pausing?.reason === 'journal-limit')
  })
})

describe('while the store cannot read', () => {
  it('a run that cannot be built is tried again', async () => {
    const faulty = createFaultyStore()
    const agent = running(async (task) => {
      await task.step('one', () => 1)
      await task.park({ reason: 'x' })
    })
    const harness = await createHarness({
      agents: [agent],
      store: faulty.store,
      options: { warmForMs: 0 },
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const resumed = harness.engine.resume(alice, { taskId: id })
    await resumed
    faulty.readsFail = true
    await harness.pass(3_000)
    faulty.readsFail = false
    await harness.pass(3_000)
    await harness.until(id, 'completed')
    expect((await harness.engine.health()).runs.busy).toBe(0)
  })

  it('a look back at events is tried again', async () => {
    const faulty = createFaultyStore()
    const agent = running(async (task) => {
      await task.step('wait', () => go.promise)
      await task.park({ reason: 'x', onEvent: 'early' })
    })
    const go = signal()
    const harness = await createHarness({ agents: [agent], store: faulty.store })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.emit('early')
    faulty.readsFail = true
    go.fire()
    await harness.pass(3_000)
    faulty.readsFail = false
    await harness.pass(3_000)
    await harness.until(id, 'completed')
  })
})
