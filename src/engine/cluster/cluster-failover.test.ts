/** A shared store whose server fails, and another one takes over that lacks the last writes. */
import { describe, expect, it } from 'vitest'
import type { ClusterStore } from '../../ports/store/cluster.ts'
import type { TaskKey } from '../../ports/store/tasks.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, effects, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }
const holdAll = { scope: { all: true }, reason: 'stop' } as const
/** The server that takes over has everything but the hold and what came after it. */
const withoutHold = (_: unknown, index: number, writes: readonly { readonly name: string }[]) =>
  index < writes.findIndex(({ name }) => name === 'putHoldAt')

describe('after a failover that lost a hold', () => {
  it('tasks are created, and holds are placed and lifted', async () => {
    const done = effects()
    const cluster = createClusterHarness({
      agents: [running((task) => task.step('x', () => done.note(task.text)))],
    })
    const a = await cluster.join()
    await a.engine.hold(root, { ...holdAll, holdNew: true })
    await cluster.failOver(withoutHold)
    await cluster.pass(LEASE_MS)
    const { id } = await a.send('one')
    await cluster.settled()
    expect((await a.get(id)).state).toBe('completed')
    const { holdId } = await a.engine.hold(root, { ...holdAll, holdNew: true })
    const { id: held } = await a.send('two')
    await cluster.settled()
    expect(done.list).toEqual(['one'])
    await a.engine.lift(root, holdId)
    await cluster.settled()
    expect((await a.get(held)).state).toBe('completed')
  })

  it('C8: the next hold waits until every process has read it', async () => {
    const done = effects()
    const go = signal()
    const cluster = createClusterHarness({
      agents: [
        running(async (task) => {
          await go.promise
          await task.step('x', () => done.note('x'))
        }),
      ],
      hints: () => [],
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const placing = b.engine.hold(root, { scope: { agent: 'none' }, reason: 'stop' })
    await cluster.pass(LEASE_MS)
    await placing
    await cluster.failOver(withoutHold)
    await cluster.pass(LEASE_MS)
    await a.send('go')
    await cluster.settled()
    const holding = b.engine.hold(root, holdAll).then(() => go.fire())
    await cluster.pass(LEASE_MS)
    await holding
    await cluster.pass(2_000)
    expect(done.list).toEqual([])
  })

  it('C8: no task begins under a hold that has the epoch of the lost one', async () => {
    const done = effects()
    const cluster = createClusterHarness({
      agents: [running((task) => task.step('x', () => done.note(task.text)))],
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const scope = { agent: 'none' }
    const lost = a.engine.hold(root, { scope, reason: 'stop', holdNew: true })
    await cluster.pass(1_000)
    await lost
    await cluster.failOver(withoutHold)
    await cluster.pass(LEASE_MS)
    const holding = b.engine.hold(root, { ...holdAll, holdNew: true })
    await cluster.pass(2_000)
    await holding
    await a.send('one')
    await cluster.settled()
    expect(done.list).toEqual([])
  })
})

it('forgets a budget that a failover has lost, when the store has no epoch left', async () => {
  const cluster = createClusterHarness({
    agents: [
      running(async (task) => {
        await task.usage({ inputTokens: 20 })
        await task.step('x', () => 1)
        return 'done'
      }),
    ],
  })
  const a = await cluster.join()
  await a.engine.setBudget(root, { scope: { all: true }, measure: 'tokens', limit: 10 })
  await cluster.failOver(
    (_, index, writes) => index < writes.findIndex(({ name }) => name === 'putPolicy'),
  )
  await cluster.pass(2 * LEASE_MS)
  const { id } = await a.send('go')
  await cluster.settled()
  expect((await a.get(id)).state).toBe('completed')
})

it('C6: a refusal is not answered from a task that a failover has lost while it was checked', async () => {
  const [checking, check] = [signal(), signal()]
  let questions = Number.NEGATIVE_INFINITY
  const cluster = createClusterHarness({
    agents: [running((task) => task.park({ reason: 'one' }).then(() => 'done'))],
    connection: (store) => ({
      ...store,
      ...(store.cluster && { cluster: { ...store.cluster, versions } }),
    }),
    hints: () => [],
  })
  async function versions(keys: readonly TaskKey[]): Promise<readonly number[]> {
    // The first question is that of the read before the decision.
    if (++questions === 2) {
      checking.fire()
      await check.promise
    }
    return (await cluster.store.cluster?.versions(keys)) ?? []
  }
  const a = await cluster.join()
  const before = cluster.clock.now()
  await cluster.pass(1_000)
  const { id } = await a.send('go')
  await cluster.settled()
  questions = 0
  const pausing = a.engine.pause(alice, { taskId: id })
  await checking.promise
  await cluster.failOver(({ at }) => at <= before)
  check.fire()
  await expect(pausing).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
})

it('C6: a read that began before a failover leaves nothing in memory', async () => {
  let answering: Promise<void> | undefined
  const cluster = createClusterHarness({
    agents: [
      running(async (task) => {
        const { input } = await task.park({ reason: 'one' })
        if (input === 'again') await task.park({ reason: 'two' })
        else await task.artifact({ name: 'x', data: 'x' })
        return 'done'
      }),
    ],
    connection: (store) => ({
      ...store,
      async records(...page) {
        const [answer, records] = [answering, await store.records(...page)]
        await answer
        return records
      },
    }),
    hints: () => [],
  })
  const a = await cluster.join()
  const b = await cluster.join()
  const { id } = await b.send('go')
  await cluster.settled()
  expect((await a.get(id)).suspension?.reason).toBe('one')
  await cluster.pass(1_000)
  const kept = cluster.clock.now()
  await b.engine.resume(alice, { taskId: id, input: 'again' })
  await cluster.settled()
  expect((await b.get(id)).version).toBe(8)
  const late = signal()
  answering = late.promise.then(() => undefined)
  const reading = a.get(id)
  await cluster.settled()
  answering = undefined
  await cluster.failOver(({ at }) => at < kept)
  late.fire()
  await reading
  await b.engine.resume(alice, { taskId: id, input: 'end' })
  await cluster.settled()
  // The lost task had the same version.
  const { state, version } = await a.get(id)
  expect([state, version]).toEqual(['completed', 8])
})

function hearingAfter(moment: Promise<void>, cluster: ClusterStore): ClusterStore {
  return {
    ...cluster,
    onChanges: (listener) =>
      cluster.onChanges((changes) => {
        moment.then(() => listener(changes)).catch(() => undefined)
      }),
  }
}

describe('a commit that lost to a write that a failover then lost', () => {
  /** The first process resumes the first stop of a task. It is answered that the task has gone on, when the test says so. */
  async function overtaken(hearing: Promise<void> = Promise.resolve()) {
    const [overtake, answer] = [signal(), signal()]
    let isSlow = false
    const cluster = createClusterHarness({
      agents: [
        running(async (task) => {
          await task.park({ reason: 'one' })
          await task.park({ reason: 'two' })
          return 'done'
        }),
      ],
      connection: (store) => ({
        ...store,
        async commit(batch) {
          if (!isSlow) return store.commit(batch)
          await overtake.promise
          const results = await store.commit(batch)
          await answer.promise
          return results
        },
        ...(store.cluster && { cluster: hearingAfter(hearing, store.cluster) }),
      }),
    })
    const a = await cluster.join()
    const b = await cluster.join()
    const { id } = await b.send('go')
    await cluster.settled()
    await cluster.pass(1_000)
    const kept = cluster.clock.now()
    isSlow = true
    const resuming = a.engine.resume(alice, { taskId: id })
    await cluster.settled()
    isSlow = false
    await b.engine.resume(alice, { taskId: id })
    await cluster.settled()
    overtake.fire()
    await cluster.settled()
    await cluster.failOver(({ at }) => at < kept)
    answer.fire()
    return { cluster, a, id, resuming }
  }

  it('C6: is decided on what the store has', async () => {
    const { cluster, a, id, resuming } = await overtaken()
    expect((await resuming).state).toBe('working')
    await cluster.pass(2 * LEASE_MS)
    expect((await a.get(id)).suspension?.reason).toBe('two')
  })

  it('leaves no task unreadable in a process that hears of the failover later', async () => {
    const hear = signal()
    const { cluster, a, resuming } = await overtaken(hear.promise.then(() => undefined))
    await expect(resuming).rejects.toMatchObject({ code: 'TASK_UNREADABLE' })
    hear.fire()
    await cluster.pass(2 * LEASE_MS)
    expect((await a.engine.health()).unreadable).toBe(0)
  })
})
