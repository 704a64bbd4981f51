/** V2: events.ts. W4: gate.ts. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { AgentTask, Child } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  effects,
  message,
  running,
  signal,
} from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'

const MINUTE = 60_000

describe('a process that stops', () => {
  it('lets the running step finish, hands the task on with a receipt, and the next one goes on', async () => {
    const done = effects()
    const go = signal()
    const agent = running(async (task) => {
      await task.step('one', async () => {
        await go.promise
        done.note('one')
      })
      await task.step('two', () => done.note('two'))
    })
    const first = await createHarness({ agents: [agent] })
    const { id } = await first.send('go')
    await first.settled()
    const stopping = first.restart()
    await first.settled()
    go.fire()
    const second = await stopping
    const log = await second.log(id)
    const receipt = log.find((record) => record.type === 'receipt')
    expect(receipt).toMatchObject({ receipt: { kind: 'DrainDecisionReceipt' } })
    const task = await second.until(id, 'completed')
    expect(task.deaths).toBe(0)
    expect(done.list).toEqual(['one', 'two'])
    expect((await second.engine.verify(alice, id)).faults).toEqual([])
  })

  it('takes no new work, and still answers reads, pauses and cancels', async () => {
    const go = signal()
    const agent = running((task) => task.step('one', () => go.promise))
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const draining = harness.engine.drain()
    await expect(harness.engine.send(alice, { message: message('x') })).rejects.toMatchObject({
      code: 'DRAINING',
    })
    expect((await harness.engine.get(alice, id)).state).toBe('working')
    expect(await harness.engine.health()).toMatchObject({ ready: false, draining: true })
    await harness.engine.cancel(alice, { taskId: id })
    go.fire()
    await draining
  })

  it('waits for a boundary a bounded time, and gives up also when the store is down', async () => {
    const faulty = createFaultyStore()
    const agent = running(() => new Promise(() => undefined))
    const harness = await createHarness({ agents: [agent], store: faulty.store })
    const { id } = await harness.send('go')
    await harness.settled()
    const draining = harness.engine.drain({ timeoutMs: 2_000 })
    await harness.pass(1_999)
    expect(await Promise.race([draining, Promise.resolve('not yet')])).toBe('not yet')
    faulty.writesFail = true
    await harness.pass(1)
    await harness.pass(5_000)
    await draining
    faulty.writesFail = false
    const second = await createHarness({
      agents: [running(() => 'done')],
      store: faulty.store,
      clock: harness.clock,
      ids: { uuid: () => `b-${Math.random()}`, random: () => 0 },
    })
    expect((await second.until(id, 'completed')).id).toBe(id)
  })

  it('commits a pause that was waiting for a boundary', async () => {
    const go = signal()
    const agent = running(async (task) => {
      await task.step('one', () => go.promise)
      await task.step('two', () => undefined)
    })
    const first = await createHarness({ agents: [agent] })
    const { id } = await first.send('go')
    await first.settled()
    await first.engine.pause(alice, { taskId: id, mode: 'wait_for_completion', graceMs: 0 })
    const stopping = first.restart()
    await first.settled()
    go.fire()
    const second = await stopping
    expect((await second.get(id)).state).toBe('paused-by-client')
  })

  it('hands on a parent that waits for a child outside memory, and one that is being built', async () => {
    const agent = running(async (task) => {
      if (task.text === 'child') await task.park({ reason: 'x' })
      else await (await task.delegate('worker', 'child')).result()
    })
    const first = await createHarness({ agents: [agent], options: { warmForMs: 0 } })
    const { id } = await first.send('go')
    await first.settled()
    const resumed = await first.send('child')
    await first.settled()
    await first.engine.resume(alice, { taskId: resumed.id })
    const second = await first.restart()
    await second.settled()
    for (const taskId of [id, resumed.id]) {
      const task = await second.get(taskId)
      expect(task.deaths).toBe(0)
    }
    expect(await second.types(id)).toContain('released')
    const { children } = await second.get(id)
    await second.engine.resume(alice, { taskId: children[0] ?? '' })
    await second.until(id, 'completed')
  })

  it('leaves parked tasks parked, with their deadlines', async () => {
    const agent = running(async (task) => {
      await task.park({ reason: 'x', timeout: { durationMinutes: 10 } })
    })
    const first = await createHarness({ agents: [agent] })
    const { id } = await first.send('go')
    await first.until(id, 'paused-by-agent')
    const log = await first.log(id)
    const second = await first.restart()
    await second.settled()
    expect(await second.log(id)).toEqual(log)
    await second.pass(10 * MINUTE)
    await second.until(id, 'completed')
  })
})

describe('a process that dies', () => {
  it('has its tasks taken over: recorded steps are not repeated, the running one is, under its key', async () => {
    const seen: string[] = []
    const agent = running(async (task) => {
      await task.step('one', ({ idempotencyKey }) => seen.push(idempotencyKey))
      await task.step('two', async ({ idempotencyKey, attempt }) => {
        seen.push(`${idempotencyKey} ${attempt}`)
        if (seen.length < 3) await new Promise(() => undefined)
      })
    })
    const first = await createHarness({ agents: [agent] })
    const { id } = await first.send('go')
    await first.settled()
    const second = await first.recover()
    const task = await second.until(id, 'completed')
    expect(seen).toHaveLength(3)
    expect(seen[1]).toBe(seen[2])
    expect(task.deaths).toBe(0)
  })

  it('again and again on the same task stops it by policy, with advice; resume tries again', async () => {
    const begun = effects()
    const agent = running((task) => {
      begun.note('begin')
      return task.step('deadly', () => new Promise<string>(() => undefined))
    })
    let harness = await createHarness({ agents: [agent], options: { maxDeaths: 3 } })
    const { id } = await harness.send('go')
    for (let death = 0; death < 3; death++) {
      await harness.settled()
      harness = await harness.recover()
    }
    const task = await harness.until(id, 'paused-by-client')
    expect(task.suspension).toMatchObject({
      reason: 'crash-loop',
      actor: { kind: 'policy', id: 'crash-loop' },
      summary: expect.stringContaining('3 times'),
    })
    expect(begun.count('begin')).toBe(3)
    await harness.engine.resume(alice, { taskId: id })
    await harness.settled()
    expect(begun.count('begin')).toBe(4)
  })

  it.each<[string, (task: AgentTask, child: Child) => Promise<unknown>]>([
    ['waits for a child', (_task, child) => child.result()],
    ['waits for a child inside a step', (task, child) => task.step('wait', () => waitFor(child))],
    ['watches a child', (_task, child) => watch(child)],
  ])('W4: is forgotten on a parent that only %s for a minute', async (_name, wait) => {
    const child = running((task) => task.park({ reason: 'x', onEvent: 'go' }).then(() => 'done'), {
      name: 'child',
    })
    const parent = running(async (task) => {
      await wait(task, await task.delegate('child', 'x'))
      return 'done'
    })
    let harness = await createHarness({ agents: [parent, child], options: { maxDeaths: 3 } })
    const { id } = await harness.send('go')
    for (let death = 0; death < 7; death++) {
      await harness.settled()
      harness.clock.advance(60_000)
      await harness.settled()
      harness = await harness.recover()
    }
    await harness.settled()
    expect(await harness.get(id)).toMatchObject({ state: 'working', deaths: 1 })
    await harness.emit('go')
    expect((await harness.ended(id)).state).toBe('completed')
  })

  it.each<[string, (task: AgentTask, child: Child) => Promise<unknown>]>([
    // The process ends with the first record: nothing after it happens.
    [
      'gets a record of a child',
      (_task, child) => watch(child, () => new Promise(() => undefined)),
    ],
    [
      'does something beside waiting for a child',
      (task, child) =>
        Promise.all([
          child.result(),
          task.step('deadly', () => new Promise<string>(() => undefined)),
        ]),
    ],
  ])('W4: is counted on a parent that %s', async (_name, die) => {
    const child = running((task) => task.park({ reason: 'x' }).then(() => 'done'), {
      name: 'child',
    })
    const parent = running(async (task) => {
      await die(task, await task.delegate('child', 'x'))
    })
    let harness = await createHarness({ agents: [parent, child], options: { maxDeaths: 3 } })
    const { id } = await harness.send('go')
    for (let death = 0; death < 3; death++) {
      await harness.settled()
      harness = await harness.recover()
    }
    const { suspension } = await harness.until(id, 'paused-by-client')
    expect(suspension?.reason).toBe('crash-loop')
  })

  it('while a pause quiesces: the pause is committed before any agent code runs', async () => {
    const begun = effects()
    const agent = running((task) => {
      begun.note('begin')
      return task.step('one', () => new Promise<string>(() => undefined))
    })
    const first = await createHarness({ agents: [agent] })
    const { id } = await first.send('go')
    await first.settled()
    const { handle } = await first.engine.pause(alice, { taskId: id, graceMs: 0 })
    const second = await first.recover()
    await second.settled()
    const task = await second.get(id)
    expect(task).toMatchObject({ state: 'paused-by-client', suspension: { handle } })
    expect(begun.count('begin')).toBe(1)
  })

  it('leaves no deadline behind: one that passed meanwhile fires at start, others are armed', async () => {
    const agent = running((task) => task.sleep(Number(task.text)).then(() => undefined))
    const first = await createHarness({ agents: [agent] })
    const soon = await first.send(`${MINUTE}`)
    const late = await first.send(`${10 * MINUTE}`)
    await first.until(late.id, 'paused-by-agent')
    first.crash()
    first.clock.advance(5 * MINUTE)
    const second = await first.recover()
    await second.until(soon.id, 'completed')
    expect((await second.get(late.id)).state).toBe('paused-by-agent')
    await second.pass(5 * MINUTE)
    await second.until(late.id, 'completed')
  })

  it('V2: after it accepted an event: the next process dispatches the acknowledged event', async () => {
    const store = createMemoryStore()
    const agent = running((task) => task.park({ reason: 'x', onEvent: 'go' }).then(() => undefined))
    const first = await createHarness({ agents: [agent], store })
    const { id } = await first.send('go')
    await first.until(id, 'paused-by-agent')
    first.crash()
    // Durable, and nobody was told.
    await store.appendEvents('acme', [{ id: 'e', source: 's', type: 'go' }], 1)
    const second = await first.recover()
    await second.until(id, 'completed')
  })

  it('between a park and its look back: the event that was faster still wakes it', async () => {
    const faulty = createFaultyStore()
    const go = signal()
    const agent = running(async (task) => {
      await task.step('wait', () => go.promise)
      await task.park({ reason: 'x', onEvent: 'early' })
    })
    const first = await createHarness({ agents: [agent], store: faulty.store })
    const { id } = await first.send('go')
    await first.settled()
    await first.emit('early')
    // The event is told and the cursor behind it is saved, long before the park.
    await first.pass(2 * MINUTE)
    faulty.readsFail = true
    go.fire()
    await first.settled()
    faulty.readsFail = false
    const second = await first.recover()
    await second.settled()
    await second.until(id, 'completed')
  })

  it('with agents the next one does not have: their tasks are stopped by policy', async () => {
    const agent = running((task) => task.step('one', () => new Promise<string>(() => undefined)))
    const queued = running(() => undefined, { name: 'queued', concurrency: 0 })
    const first = await createHarness({ agents: [agent, queued] })
    const working = await first.send('x')
    const waiting = await first.send('x', { agent: 'queued' })
    await first.settled()
    const second = await first.recover({ agents: [running(() => 'ok', { name: 'other' })] })
    for (const { id } of [working, waiting]) {
      const task = await second.until(id, 'paused-by-client')
      expect(task.suspension).toMatchObject({ reason: 'agent-unknown', actor: { kind: 'policy' } })
    }
    const third = await second.recover({ agents: [running(() => 'ok')] })
    await third.engine.resume(alice, { taskId: working.id })
    await third.until(working.id, 'completed')
  })

  it('with many tasks at work: all are taken over, within the limit of their agent', async () => {
    let now = 0
    let most = 0
    const agent = (hang: boolean) =>
      running(
        async (task) => {
          most = Math.max(most, ++now)
          await task.step('one', () => (hang ? new Promise(() => undefined) : undefined))
          now--
        },
        { concurrency: 500 },
      )
    const first = await createHarness({ agents: [agent(true)] })
    const sent = await Promise.all(Array.from({ length: 400 }, (_, n) => first.send(`${n}`)))
    await first.settled()
    now = most = 0
    const limited = running(agent(false).run as never, { concurrency: 5 })
    const second = await first.recover({ agents: [limited] })
    for (const { id } of sent) await second.until(id, 'completed')
    expect(most).toBe(5)
  })
})

async function waitFor(child: Child): Promise<string> {
  return (await child.result()).state
}

async function watch(child: Child, see = async (): Promise<void> => undefined): Promise<void> {
  for await (const _record of child.watch()) await see()
}
