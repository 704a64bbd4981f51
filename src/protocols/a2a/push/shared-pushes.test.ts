/** Cites P6 of pushes.ts. */
import { describe, expect, it } from 'vitest'
import { createFailoverCluster } from '../../../engine/test-support/failover.ts'
import { createMemoryCluster } from '../../../stores/memory/memory-cluster.ts'
import { keyIn } from '../../../testing/key-in.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { anyone, openTestServer, type TestServer } from '../test-support/test-server.ts'
import type { Delivery } from './post.ts'
import { receiver, send, settle, told } from './test-support/receiver.ts'

describe('push notifications of two processes on one store', () => {
  it('P6: are sent once, and by the other one when the first is gone', async () => {
    const clock = createManualClock()
    const cluster = createMemoryCluster(clock.now)
    const hook = receiver()
    const join = (): Promise<TestServer> =>
      openTestServer({ store: cluster.connect(), clock, a2a: { post: hook.post } })
    const [first, second] = [await join(), await join()]
    const sending = send(first, [{ park: { reason: 'r' } }, { say: 'a' }, { complete: 'z' }])
    sending.catch(() => undefined)
    await settle()
    clock.advance(10_000)
    await settle()
    expect(told(hook)).toEqual(['task SUBMITTED', 'WORKING', 'WORKING'])
    await first.store.close()
    const [task] = await second.store.list({ limit: 1 })
    const root = { tenant: '*', principal: 'root', operator: true }
    await second.engine.resume(root, { taskId: task?.id ?? '' })
    for (let n = 0; n < 8; n++) {
      clock.advance(5_000)
      await settle()
    }
    expect(told(hook).slice(3)).toEqual(['WORKING', 'WORKING', 'artifact result', 'COMPLETED'])
  })

  /** Two processes. Counts the deliveries that are under way at once, and who has a duty. */
  async function joinTwo(hook: ReturnType<typeof receiver>) {
    const clock = createManualClock()
    const cluster = createMemoryCluster(clock.now)
    const duties = new Map<string, number>()
    const under = { way: 0, most: 0 }
    function join(): Promise<TestServer> {
      const store = cluster.connect()
      const shared = store.cluster
      if (shared === undefined) throw new Error('a shared store was expected')
      const takeDuty: typeof shared.takeDuty = async (name, worker, forMs) => {
        const taken = await shared.takeDuty(name, worker, forMs)
        if (taken && name.startsWith('webhook ')) {
          if (forMs === 0) duties.delete(name)
          else duties.set(name, forMs)
        }
        return taken
      }
      const post = async (delivery: Delivery, confirm?: () => Promise<void>): Promise<void> => {
        await confirm?.()
        under.most = Math.max(under.most, ++under.way)
        await hook.post(delivery).finally(() => under.way--)
      }
      return openTestServer({
        store: { ...store, cluster: { ...shared, takeDuty } },
        clock,
        a2a: { post },
      })
    }
    const first = await join()
    await join()
    async function pass(seconds: number): Promise<void> {
      for (let n = 0; n < seconds; n++) {
        await settle()
        clock.advance(1_000)
      }
      await settle()
    }
    return { first, clock, duties, under, pass }
  }

  it('P6: are sent by one, also when the events take longer together than the duty lasts', async () => {
    const hook = receiver()
    const { first, clock, duties, under, pass } = await joinTwo(hook)
    hook.answer = () => new Promise((resolve) => clock.after(9_000, resolve))
    const says = ['1', '2', '3', '4'].map((say) => ({ say }))
    send(first, [...says, { complete: 'z' }]).catch(() => undefined)
    await pass(120)
    expect(under.most).toBe(1)
    const said = ['WORKING', 'WORKING', 'WORKING', 'WORKING', 'WORKING']
    expect(told(hook)).toEqual(['task SUBMITTED', ...said, 'artifact result', 'COMPLETED'])
    expect(await first.store.listPushes('open', undefined, 9)).toEqual([])
    expect(duties).toEqual(new Map())
  })

  it('P6: have no duty while nothing is due', async () => {
    const hook = receiver()
    const { first, duties, pass } = await joinTwo(hook)
    send(first, [{ park: { reason: 'r' } }]).catch(() => undefined)
    await pass(5)
    const [task] = await first.store.list({ limit: 1 })
    // A record without an event for webhooks.
    const { tenant = '', id: taskId = '' } = task ?? {}
    const params = { taskId, reminder: { body: 'b' } }
    first.ok('1.0', 'tasks/inject_reminder', params).catch(() => undefined)
    await pass(5)
    const [webhook] = await first.store.pushes(...(await keyIn(first.store, params.taskId)))
    expect([webhook?.sentSeq]).toEqual(
      await first.store.cluster?.versions([{ tenant, id: taskId }]),
    )
    expect(hook.got.length).toBeGreaterThan(0)
    expect(duties).toEqual(new Map())
    const taken: string[] = []
    duties.set = (name) => {
      taken.push(name)
      return duties
    }
    await pass(60)
    expect(taken).toEqual([])
  })

  /** A process, and a webhook that has got everything of its task. */
  async function joinWithSent() {
    const clock = createManualClock()
    const cluster = createMemoryCluster(clock.now)
    const hook = receiver()
    const join = (): Promise<TestServer> =>
      openTestServer({ store: cluster.connect(), clock, a2a: { post: hook.post } })
    const first = await join()
    const { store } = first
    const taskId = await send(first, [{ complete: 'z' }])
    await settle()
    const [sent] = await store.pushes(...(await keyIn(store, taskId)))
    if (sent === undefined) throw new Error('a webhook was expected')
    expect(sent.done).toBe(true)
    return { clock, hook, join, store, taskId, sent }
  }

  it('P6: are removed when their task is gone', async () => {
    const { clock, store, sent } = await joinWithSent()
    const { done: _, ...open } = sent
    await store.putPush({ ...open, taskId: 'gone' })
    clock.advance(10_000)
    await settle()
    expect(await store.pushes(...(await keyIn(store, 'gone')))).toEqual([])
  })

  it('P6: are done after a start when an earlier program sent everything', async () => {
    const { hook, join, store, taskId, sent } = await joinWithSent()
    const { done: _, ...open } = sent
    await store.putPush(open)
    const count = hook.got.length
    await join()
    await settle()
    expect(await store.pushes(...(await keyIn(store, taskId)))).toEqual([sent])
    expect(hook.got).toHaveLength(count)
  })

  it('P6: send what follows a failover that took records and the cursor back', async () => {
    const clock = createManualClock()
    const cluster = createFailoverCluster(clock.now)
    const hook = receiver()
    const server = await openTestServer({
      store: cluster.connect(),
      clock,
      a2a: { post: hook.post },
    })
    const parks = [{ park: { reason: 'r' } }, { say: 'a' }, { say: 'b' }, { park: { reason: 's' } }]
    send(server, parks).catch(() => undefined)
    await settle()
    const [{ id: taskId = '' } = {}] = await server.store.list({ limit: 1 })
    const stored = async () =>
      (await server.store.pushes(...(await keyIn(server.store, taskId))))[0]
    const before = await stored()
    clock.advance(1)
    const lost = clock.now()
    await server.engine.resume(anyone, { taskId })
    await settle()
    const [later, count] = [await stored(), hook.got.length]
    expect(later?.sentSeq).toBeGreaterThan((before?.sentSeq ?? 0) + 2)

    await cluster.failOver(({ at }) => at < lost)
    await settle()
    expect(await stored()).toEqual(before)
    await server.engine.cancel(anyone, { taskId })
    for (let n = 0; n < 3; n++) {
      await settle()
      clock.advance(10_000)
    }
    await settle()
    const [tenant] = await keyIn(server.store, taskId)
    const [version] = (await server.store.cluster?.versions([{ tenant, id: taskId }])) ?? []
    expect(version).toBeLessThan(later?.sentSeq ?? 0)
    expect(told(hook).slice(count).at(-1)).toBe('CANCELED')
    expect(await stored()).toMatchObject({ done: true, sentSeq: version })
  })
})
