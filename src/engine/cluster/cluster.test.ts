/** C1 to C9 of `cluster/membership.ts`: several processes on one store. */
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../core/records.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, effects, message, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }
/** Every report is lost. */
const deaf = (): readonly number[] => []

describe('two processes on one store', () => {
  it('C2: take over the task of a dead process once, and its step runs once more', async () => {
    const done = effects()
    const agents = [
      running(async (task) => {
        await task.step('work', async () => {
          done.note('work')
          await new Promise((resolve) => setImmediate(resolve))
          if (done.count('work') === 1) await new Promise(() => undefined)
          return 1
        })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const dead = await cluster.join()
    const { id } = await dead.send('go')
    await cluster.settled()
    expect(done.count('work')).toBe(1)
    dead.crash()
    const [b, c] = await Promise.all([cluster.join(), cluster.join()])
    await cluster.pass(30_000)
    expect((await b.get(id)).state).toBe('completed')
    expect((await c.get(id)).state).toBe('completed')
    expect(done.count('work')).toBe(2)
    expect((await b.types(id)).filter((type) => type === 'started')).toHaveLength(2)
  })

  it('C5: a pause from elsewhere waits for the step, and is answered when it is true', async () => {
    const release = signal()
    const agents = [
      running(async (task) => {
        await task.step('work', () => release.promise)
        await task.step('more', () => undefined)
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    const pausing = b.engine.pause(alice, { taskId: id })
    await cluster.settled()
    expect((await b.get(id)).state).toBe('working')
    expect((await a.get(id)).state).toBe('working')
    release.fire()
    expect((await pausing).state).toBe('paused-by-client')
    expect((await a.get(id)).state).toBe('paused-by-client')
    await a.engine.resume(alice, { taskId: id })
    await cluster.settled()
    expect((await b.until(id, 'completed')).state).toBe('completed')
  })

  it('C1: a process that stood still past its lease writes nothing more of its run', async () => {
    const done = effects()
    const release = signal()
    const agents = [
      running(async (task) => {
        await task.step('one', async () => {
          done.note('one')
          if (done.count('one') === 1) await release.promise
        })
        await task.step('two', () => done.note('two'))
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const zombie = await cluster.join()
    const b = await cluster.join()
    const { id } = await zombie.send('go')
    await cluster.settled()
    cluster.stop(zombie)
    await cluster.pass(2 * LEASE_MS)
    expect((await b.get(id)).state).toBe('completed')
    cluster.goOn(zombie)
    release.fire()
    await cluster.pass(LEASE_MS)
    expect(done.list).toEqual(['one', 'one', 'two'])
    expect(await zombie.types(id)).toEqual(await b.types(id))
    expect((await b.types(id)).filter((type) => type === 'step')).toHaveLength(2)
    expect((await zombie.get(id)).state).toBe('completed')
  })

  it('C3: starts no step after its lease may have been taken, and goes on when it has one', async () => {
    const done = effects()
    const release = signal()
    const agents = [
      running(async (task) => {
        await release.promise
        await task.step('one', () => done.note('one'))
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    cluster.stop(a)
    // No other process is there to take the task.
    await cluster.pass(2 * LEASE_MS)
    a.life.goOn()
    release.fire()
    await cluster.settled()
    expect(done.list).toEqual([])
    cluster.goOn(a)
    await cluster.pass(2 * LEASE_MS)
    expect((await a.get(id)).state).toBe('completed')
    expect(done.list).toEqual(['one'])
  })

  it('C4: a process whose lease ran out goes on as another worker and takes new tasks', async () => {
    const cluster = createClusterHarness({ agents: [running((task) => task.step('x', () => 'y'))] })
    const a = await cluster.join()
    const b = await cluster.join()
    const [before] = (await cluster.store.cluster?.workers()) ?? []
    cluster.stop(a)
    await cluster.pass(2 * LEASE_MS)
    cluster.goOn(a)
    await cluster.pass(LEASE_MS)
    const { id } = await a.send('go')
    await cluster.settled()
    expect((await b.get(id)).state).toBe('completed')
    const workers = (await cluster.store.cluster?.workers()) ?? []
    expect(workers).toHaveLength(2)
    expect(workers.every(({ alive }) => alive)).toBe(true)
    expect(workers.map((worker) => worker.id)).not.toContain(before?.id)
  })

  it('C4: a lost lease ends every run at once, also when nobody has taken its task', async () => {
    const reasons: unknown[] = []
    const agents = [
      running(async (task) => {
        await task.step('x', async ({ signal: stop }) => {
          stop.addEventListener('abort', () => reasons.push(stop.reason.code))
          await new Promise(() => undefined)
        })
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    await a.send('go')
    await cluster.settled()
    cluster.stop(a)
    await cluster.pass(2 * LEASE_MS)
    cluster.goOn(a)
    await cluster.settled()
    expect(reasons).toEqual(['taken-over'])
    expect((await a.engine.health()).runs).toMatchObject({ live: 0, busy: 0 })
  })

  it.each([
    ['reports', undefined],
    ['no reports', deaf],
  ])('C5: readers and waiting calls elsewhere see every record once, with %s', async (_, hints) => {
    const agents = [
      running(async (task) => {
        for (let n = 0; n < 5; n++) await task.step(`s${n}`, () => n)
        await task.park({ reason: 'wait' })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents, ...(hints === undefined ? {} : { hints }) })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    const seen: LogRecord[] = []
    const reading = (async () => {
      for await (const record of await b.engine.subscribe(alice, id)) seen.push(record)
    })()
    const waiting = b.until(id, 'completed')
    await cluster.pass(3_000)
    await b.engine.resume(alice, { taskId: id })
    await cluster.pass(10_000)
    expect((await waiting).state).toBe('completed')
    await reading
    expect(seen).toEqual(await a.log(id))
  })

  it('C6: refuses, repeats and reads by what the store has, not by what it remembers', async () => {
    const agents = [running((task) => task.park({ reason: 'wait' }).then(() => 'done'))]
    const cluster = createClusterHarness({ agents, hints: deaf })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    expect((await b.get(id)).state).toBe('paused-by-agent')
    expect((await a.get(id)).state).toBe('paused-by-agent')
    await a.engine.resume(alice, { taskId: id })
    await cluster.settled()
    expect((await b.get(id)).state).toBe('completed')
    await expect(b.engine.pause(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSABLE',
    })
    await expect(b.engine.resume(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSED',
    })
    await expect(
      b.engine.send(alice, { message: message('more', { taskId: id }) }),
    ).rejects.toMatchObject({ code: 'TASK_TERMINAL' })
  })

  it('C1, C5: a warm frame is not continued when the task ran elsewhere meanwhile', async () => {
    const done = effects()
    const agents = [
      running(async (task) => {
        await task.park({ reason: 'one' })
        await task.step('after', () => done.note('after'))
        await task.park({ reason: 'two' })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents, hints: deaf })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    await b.engine.resume(alice, { taskId: id })
    await cluster.settled()
    expect((await b.get(id)).suspension?.reason).toBe('two')
    await a.engine.resume(alice, { taskId: id })
    await cluster.settled()
    expect((await a.get(id)).state).toBe('completed')
    expect(done.list).toEqual(['after'])
  })

  it('C7: an event wakes a task that parked elsewhere, once, whoever tells it', async () => {
    const agents = [
      running(async (task) => {
        const woken = await task.park({ reason: 'wait', onEvent: 'built' })
        await task.artifact({ name: 'by', data: JSON.stringify(woken.event) })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents, hints: deaf })
    const a = await cluster.join()
    const b = await cluster.join()
    const early = await a.send('go')
    await cluster.settled()
    await b.emit('built', { id: 'e-1' })
    await cluster.settled()
    expect((await a.get(early.id)).state).toBe('completed')
    // An event from before the task began does not wake it, whichever process took either.
    const late = await a.send('go')
    await cluster.pass(10_000)
    expect((await b.get(late.id)).state).toBe('paused-by-agent')
    await b.emit('built', { id: 'e-2' })
    await cluster.settled()
    expect((await a.get(late.id)).artifacts[0]?.parts).toMatchObject([
      { data: expect.stringContaining('e-2') },
    ])
  })

  it('C7: an event whose process dies before it told it is told by another one', async () => {
    const agents = [
      running(async (task) => {
        await task.park({ reason: 'wait', onEvent: 'built' })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    // Stored by a process that dies at once.
    await cluster.store.appendEvents('acme', [{ id: 'e', source: 's', type: 'built' }], 1)
    await cluster.settled()
    expect((await a.get(id)).state).toBe('paused-by-agent')
    await cluster.pass(LEASE_MS)
    expect((await a.get(id)).state).toBe('completed')
  })

  it('C8: a hold is complete while tasks are created in other processes that have not heard of it', async () => {
    const done = effects()
    const agents = [running((task) => task.step('x', () => done.note(task.text)))]
    const cluster = createClusterHarness({ agents, hints: deaf })
    const a = await cluster.join()
    const b = await cluster.join()
    const holding = a.engine.hold(root, { scope: { all: true }, reason: 'stop', holdNew: true })
    await cluster.pass(LEASE_MS)
    const { holdId } = await holding
    const sent = await Promise.all([b.send('one'), a.send('two'), b.send('three')])
    await cluster.pass(2_000)
    expect(done.list).toEqual([])
    const c = await cluster.join()
    await cluster.pass(2_000)
    expect(done.list).toEqual([])
    expect((await c.engine.holds(root)).map(({ id }) => id)).toEqual([holdId])
    expect(await c.engine.lift(root, holdId)).toMatchObject({ tasks: 3 })
    await cluster.pass(10_000)
    for (const { id } of sent) expect((await a.get(id)).state).toBe('completed')
    await b.send('four')
    await cluster.settled()
    expect([...done.list].sort()).toEqual(['four', 'one', 'three', 'two'])
  })

  it('C9: a minute of skew changes no deadline and no recorded time', async () => {
    const agents = [
      running(async (task) => {
        await task.park({ reason: 'wait', timeout: { durationMinutes: 2 } })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join({ skewMs: 60_000 })
    const b = await cluster.join({ skewMs: -60_000 })
    const { id } = await a.send('go')
    const other = await b.send('go')
    await cluster.settled()
    expect((await b.get(id)).createdAt).toBe(cluster.clock.now())
    expect((await a.get(other.id)).createdAt).toBe(cluster.clock.now())
    await cluster.pass(119_000)
    expect((await b.get(id)).state).toBe('paused-by-agent')
    expect((await b.get(other.id)).state).toBe('paused-by-agent')
    await cluster.pass(2_000)
    expect((await b.get(id)).state).toBe('completed')
    expect((await a.get(other.id)).state).toBe('completed')
  })
})
