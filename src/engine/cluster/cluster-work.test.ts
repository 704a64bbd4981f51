/** Several processes on one store share their work. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, effects, message, olga, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
/** Every report is lost. */
const deaf = (): readonly number[] => []

describe('work that several processes share', () => {
  it('one explicit key of a follow-up delivers once, in whatever processes it is sent', async () => {
    const agents = [running((task) => task.park({ reason: 'wait' }).then(() => 'done'))]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    const more = { message: message('more', { taskId: id }), idempotencyKey: 'k' }
    const both = await Promise.all([a.engine.send(alice, more), b.engine.send(alice, more)])
    expect(both.map(({ repeated }) => repeated).sort()).toEqual([false, true])
    expect((await a.get(id)).history).toHaveLength(2)
  })

  it('a task that found no slot in one process runs in another', async () => {
    const release = signal()
    const agents = [running((task) => task.step('x', () => release.promise), { concurrency: 1 })]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    await cluster.join()
    const sent = [await a.send('one'), await a.send('two')]
    await cluster.settled()
    const tasks = await Promise.all(sent.map(({ id }) => a.get(id)))
    expect(new Set(tasks.map(({ run }) => run?.worker)).size).toBe(2)
    release.fire()
    await cluster.pass(1_000)
    for (const { id } of sent) expect((await a.get(id)).state).toBe('completed')
  })

  it('a process without a lease keeps no task from the others', async () => {
    const release = signal()
    const agents = [running((task) => task.step('x', () => release.promise), { concurrency: 1 })]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join({ agents })
    const b = await cluster.join()
    const first = await b.send('one')
    await cluster.settled()
    cluster.stop(a)
    await cluster.pass(2 * LEASE_MS)
    const second = await b.send('two')
    // It hears of the task before it has renewed its lease.
    a.life.goOn()
    await cluster.settled()
    release.fire()
    await cluster.settled()
    expect((await b.get(first.id)).state).toBe('completed')
    expect((await b.get(second.id)).state).toBe('completed')
  })

  it('a parent goes on when its child ends elsewhere, also when its frame has left memory', async () => {
    const release = signal()
    const agents = [
      running(
        async (task) => {
          const child = await task.delegate('child', 'go')
          const { state } = await child.result()
          return state
        },
        { name: 'parent' },
      ),
      running((task) => task.step('x', () => release.promise), { name: 'child', concurrency: 1 }),
    ]
    const cluster = createClusterHarness({ agents, hints: deaf, options: { warmForMs: 5_000 } })
    const a = await cluster.join()
    const first = await a.send('go', { agent: 'parent' })
    await cluster.settled()
    const b = await cluster.join()
    const second = await a.send('go', { agent: 'parent' })
    await cluster.pass(LEASE_MS)
    release.fire()
    await cluster.pass(LEASE_MS)
    for (const { id } of [first, second]) expect((await b.get(id)).state).toBe('completed')
  })

  it('a process that stops in order hands its tasks on at once', async () => {
    const done = effects()
    const agents = [
      running(async (task) => {
        await task.step('one', async ({ signal: stop }) => {
          done.note('one')
          if (done.count('one') > 1) return
          await new Promise((_, fail) => stop.addEventListener('abort', () => fail(stop.reason)))
        })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    const draining = a.engine.drain({ timeoutMs: 1_000 })
    await cluster.pass(3_000)
    await draining
    a.crash()
    await cluster.pass(1_000)
    expect((await b.get(id)).state).toBe('completed')
    expect(done.list).toEqual(['one', 'one'])
    expect(await cluster.store.cluster?.workers()).toHaveLength(1)
  })

  it('an operator sees every process, what it runs, and whether it stops', async () => {
    const release = signal()
    const agents = [running((task) => task.step('x', () => release.promise))]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const b = await cluster.join()
    await a.send('go')
    await cluster.pass(10_000)
    const leaseMs = 15_000
    const seen = (await b.engine.workers()).find(({ id }) => id === a.engine.worker())
    expect(seen).toMatchObject({ here: false, alive: true, agents: ['worker'], running: 1 })
    expect(seen?.leaseUntil).toBe((seen?.heartbeatAt ?? 0) + leaseMs)
    expect(cluster.clock.now() - (seen?.heartbeatAt ?? 0)).toBeLessThanOrEqual(leaseMs / 3)
    expect(cluster.clock.now() - (seen?.startedAt ?? 0)).toBe(10_000)
    const stopping = a.engine.drain({ timeoutMs: 60_000 })
    await cluster.settled()
    const draining = (await b.engine.workers()).filter((one) => one.draining).map(({ id }) => id)
    expect(draining).toEqual([a.engine.worker()])
    release.fire()
    await stopping
    expect(await b.engine.workers()).toMatchObject([{ here: true }])
    a.crash()
    await cluster.pass(leaseMs)
    b.crash()
    const c = await cluster.join()
    await cluster.pass(leaseMs)
    expect(await c.engine.workers()).toMatchObject([{ here: true, alive: true }])
  })

  it('removes what is old once, whichever process does it', async () => {
    let prunes = 0
    const connection = (store: Store): Store => ({
      ...store,
      pruneClaims: (...args) => {
        prunes++
        return store.pruneClaims(...args)
      },
    })
    const cluster = createClusterHarness({ connection })
    for (let n = 0; n < 3; n++) await cluster.join()
    // The hour begins two seconds after the first start.
    await cluster.pass(2_000)
    for (const hour of [1, 2]) {
      await cluster.pass(3_600_000)
      expect(prunes).toBe(hour)
    }
  })

  it('a timer fires once, whichever process sees it', async () => {
    const agents = [
      running(async (task) => {
        for (let round = 0; round < 3; round++) {
          await task.park({ reason: 'wait', timeout: { durationMinutes: 1 } })
        }
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const b = await cluster.join()
    await cluster.join()
    const { id } = await a.send('go')
    await cluster.pass(61_000 * 4)
    const types = await b.types(id)
    expect(types.filter((type) => type === 'resumed')).toHaveLength(3)
    expect(types.at(-1)).toBe('completed')
  })

  it('an operator sees one winner per resume, in whatever processes it is asked', async () => {
    const agents = [running((task) => task.park({ reason: 'wait' }).then(() => 'done'))]
    const cluster = createClusterHarness({ agents, hints: deaf })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    const results = await Promise.allSettled(
      [a, b, a, b].map(({ engine }) => engine.resume(olga, { taskId: id })),
    )
    await cluster.settled()
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await a.types(id)).filter((type) => type === 'resumed')).toHaveLength(1)
  })

  it('an event that came elsewhere before a park was written wakes the task', async () => {
    const release = signal()
    const agents = [
      running(async (task) => {
        await task.step('x', () => release.promise)
        await task.park({ reason: 'wait', onEvent: 'built' })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents, hints: deaf })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    await b.emit('built')
    release.fire()
    await cluster.settled()
    expect((await b.get(id)).state).toBe('completed')
  })

  it('what follows a write of a process that died is done by another one', async () => {
    const agents = [
      running(
        async (task) => {
          await (await task.delegate('child', 'go')).result()
        },
        { name: 'parent' },
      ),
      running((task) => task.park({ reason: 'x' }).then(() => undefined), { name: 'child' }),
    ]
    let die: () => void = () => undefined
    const connection = (store: Store): Store => ({
      ...store,
      async commit(batch) {
        const results = await store.commit(batch)
        if (batch.some(({ records }) => records.some(({ type }) => type === 'canceled'))) die()
        return results
      },
    })
    const cluster = createClusterHarness({ agents, connection })
    const a = await cluster.join()
    const b = await cluster.join()
    const parent = await a.send('go', { agent: 'parent' })
    await cluster.settled()
    const [childId = ''] = (await a.get(parent.id)).children
    // Dies with the parent canceled, and nothing done about its children.
    die = a.crash
    a.engine.cancel(alice, { taskId: parent.id }).catch(() => undefined)
    await cluster.settled()
    die = () => undefined
    expect((await b.get(parent.id)).state).toBe('canceled')
    expect((await b.get(childId)).state).toBe('paused-by-agent')
    await cluster.pass(3 * LEASE_MS)
    expect((await b.get(childId)).state).toBe('canceled')
  })

  it('a task that goes on while the work of a dead process is repeated keeps its children', async () => {
    const [release, over] = [signal(), signal()]
    const agents = [
      running(async (task) => {
        const child = await task.delegate('child', 'go')
        await task.park({ reason: 'wait' })
        await task.step('after', () => over.promise)
        return (await child.result()).state
      }),
      running((task) => task.step('slow', () => release.promise), { name: 'child' }),
    ]
    let listed: () => Promise<unknown> = async () => undefined
    const connection = (store: Store): Store => ({
      ...store,
      async list(query) {
        const rows = await store.list(query)
        if (query.states?.includes('canceled')) await listed()
        return rows
      },
    })
    const cluster = createClusterHarness({ agents, connection })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    expect((await b.get(id)).state).toBe('paused-by-agent')
    let resumed = 0
    listed = async () => {
      if (resumed++ === 0) await b.engine.resume(alice, { taskId: id })
    }
    a.crash()
    await cluster.pass(3 * LEASE_MS)
    expect(resumed).toBeGreaterThan(0)
    release.fire()
    over.fire()
    await cluster.pass(LEASE_MS)
    const [childId = ''] = (await b.get(id)).children
    expect((await b.get(childId)).state).toBe('completed')
    expect((await b.get(id)).state).toBe('completed')
  })

  it('a store that lost commits makes every process give up what it remembers', async () => {
    const release = signal()
    const agents = [running((task) => task.step('x', () => release.promise))]
    const cluster = createClusterHarness({ agents })
    const a = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    cluster.store.cluster?.report({ rolledBack: true })
    await cluster.settled()
    release.fire()
    await cluster.pass(2 * LEASE_MS)
    expect((await a.get(id)).state).toBe('completed')
    expect((await a.types(id)).filter((type) => type === 'started')).toHaveLength(2)
  })

  it('a warm frame that was told of an old version before follows what came since', async () => {
    const agents = [
      running(async (task) => {
        for (const reason of ['one', 'two', 'three']) await task.park({ reason })
        return 'done'
      }),
    ]
    const cluster = createClusterHarness({ agents, hints: deaf, options: { cachedTasks: 1 } })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await a.send('go')
    await cluster.settled()
    for (const process of [b, a, a]) {
      const { suspension } = await process.get(id)
      // The refusal is decided on what the process remembers, and then on what the store has.
      await process.engine.resume(alice, { taskId: id, handle: 'other' }).catch(() => undefined)
      await process.engine.resume(alice, { taskId: id, handle: suspension?.handle ?? '' })
      await cluster.pass(1_000)
    }
    expect((await a.get(id)).state).toBe('completed')
  })
})
