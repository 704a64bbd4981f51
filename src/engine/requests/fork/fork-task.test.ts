import { describe, expect, it } from 'vitest'
import { verifyReceipts } from '../../../core/receipts/check-receipts.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { testSigner } from '../../../testing/test-signer.ts'
import {
  alice,
  bob,
  createHarness,
  effects,
  type Harness,
  mallory,
  olga,
  running,
} from '../../test-support/engine-harness.ts'

/** Charges, waits for a decision, and ships. */
function shop() {
  const done = effects()
  const agents = [
    running(async (task) => {
      const price = await task.step('price', () => {
        done.note('price')
        return 7
      })
      await task.say(`It costs ${price}`)
      const { input } = await task.park({ reason: 'which carrier?' })
      await task.step('ship', () => {
        done.note(`ship by ${input} ${task.wake?.input ?? ''}`.trim())
        return null
      })
      await task.step('mail', () => done.note('mail'))
      return 'shipped'
    }),
  ]
  return { done, agents }
}

async function shipped(harness: Harness): Promise<string> {
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await harness.engine.resume(alice, { taskId: id, input: 'rail' })
  await harness.until(id, 'completed')
  return id
}

describe('a fork', () => {
  it('F4: is one task for one idempotency key, at once, later and after a crash', async () => {
    const { done, agents } = shop()
    const store = createMemoryStore()
    const first = await createHarness({ agents, store })
    const id = await shipped(first)
    const request = { taskId: id, at: 'ship', idempotencyKey: 'again' }
    const fork = (harness: Harness, some: object = {}) =>
      harness.engine.fork(alice, { ...request, ...some })
    const [one, two] = await Promise.all([fork(first), fork(first)])
    expect(two.id).toBe(one.id)
    await first.until(one.id, 'completed')
    expect((await fork(first)).id).toBe(one.id)
    expect(done.list.filter((effect) => effect.startsWith('ship'))).toHaveLength(2)
    const second = await first.recover()
    expect((await fork(second)).id).toBe(one.id)
    expect((await fork(second, { idempotencyKey: 'other' })).id).not.toBe(one.id)
    await expect(fork(second, { at: 'mail' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })

  it('F1: executes nothing that is recorded before the fork point, and goes on from there', async () => {
    const { done, agents } = shop()
    const harness = await createHarness({ agents })
    const id = await shipped(harness)
    const origin = await harness.get(id)
    const { id: forkId } = await harness.engine.fork(alice, { taskId: id, at: 'mail' })
    const fork = await harness.until(forkId, 'completed')
    expect(done.list).toEqual(['price', 'ship by rail rail', 'mail', 'mail'])
    expect(fork).toMatchObject({
      forkedFrom: { taskId: id, step: 'step:mail#1' },
      principal: 'alice',
      tenant: 'acme',
    })
    expect(fork.contextId).not.toBe(origin.contextId)
    expect(fork.history.map(({ parts }) => parts)).toEqual(origin.history.map(({ parts }) => parts))
    expect(fork.history.every(({ taskId }) => taskId === forkId)).toBe(true)
    expect(await harness.get(id)).toEqual(origin)
  })

  it('gives its input to the code as the input of a wake', async () => {
    const { done, agents } = shop()
    const harness = await createHarness({ agents })
    const id = await shipped(harness)
    const fork = await harness.engine.fork(alice, { taskId: id, at: 'ship', input: 'air' })
    await harness.until(fork.id, 'completed')
    expect(done.list).toContain('ship by rail air')
  })

  it('asks or parks again when it is forked there, and can be answered in another way', async () => {
    const { done, agents } = shop()
    const harness = await createHarness({ agents })
    const id = await shipped(harness)
    const fork = await harness.engine.fork(alice, { taskId: id, at: 'park' })
    await harness.until(fork.id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: fork.id, input: 'sea' })
    await harness.until(fork.id, 'completed')
    expect(done.list).toContain('ship by sea sea')
    expect(done.count('price')).toBe(1)
  })

  it('has genuine receipts: those of the shared past, and one that names the task it came from', async () => {
    const { agents } = shop()
    const harness = await createHarness({ agents })
    const id = await shipped(harness)
    const fork = await harness.engine.fork(alice, { taskId: id, at: 'mail', paused: true })
    expect(fork.state).toBe('paused-by-client')
    const log = await harness.log(fork.id)
    expect(verifyReceipts(log, testSigner)).toEqual([])
    const receipts = log.flatMap((one) => (one.type === 'receipt' ? [one.receipt] : []))
    expect(receipts.map(({ taskId }) => taskId)).toEqual([id, id, fork.id])
    expect(receipts.at(-1)?.facts['reason']).toBe(`forked from task ${id} at step "mail"`)
    expect(await harness.engine.verify(alice, fork.id)).toMatchObject({ faults: [] })
    // Without the record of the fork, its receipts are those of another task.
    const moved = log.map((one) => (one.type === 'submitted' ? { ...one, taskId: fork.id } : one))
    expect(verifyReceipts(moved, testSigner)).not.toEqual([])
  })

  it('goes on after a crash, and is forked again', async () => {
    const { done, agents } = shop()
    const old = await createHarness({ agents })
    const id = await shipped(old)
    const first = await old.engine.fork(alice, { taskId: id, at: 'ship', paused: true })
    const harness = await old.recover()
    await harness.engine.resume(alice, { taskId: first.id })
    await harness.until(first.id, 'completed')
    const second = await harness.engine.fork(alice, { taskId: first.id, at: 'mail' })
    await harness.until(second.id, 'completed')
    expect(done.list.filter((one) => one === 'mail')).toHaveLength(3)
    expect(done.count('price')).toBe(1)
    expect((await harness.get(second.id)).forkedFrom?.taskId).toBe(first.id)
  })

  it('sees the context that the code of its origin saw', async () => {
    const seen: number[] = []
    const agents = [
      running(async (task) => {
        seen.push(task.context.tasks.length)
        await task.step('a', () => 1)
      }),
    ]
    const harness = await createHarness({ agents })
    const first = await harness.send('one')
    await harness.ended(first.id)
    const { contextId } = first
    const message = {
      messageId: 'two',
      role: 'ROLE_USER',
      parts: [{ text: 'x' }],
      contextId,
    } as const
    const second = await harness.engine.send(alice, { message })
    if (second.kind !== 'task') throw new Error('no task')
    await harness.ended(second.task.id)
    const fork = await harness.engine.fork(alice, { taskId: second.task.id, at: 'a' })
    await harness.until(fork.id, 'completed')
    // The third one is the check of the fork point.
    expect(seen).toEqual([0, 1, 1, 1])
  })

  it('F3: has no usage, holds or children of its origin, and is stopped by a hold on new tasks', async () => {
    const child = running(async () => 'done', { name: 'child' })
    const parent = running(
      async (task) => {
        await task.usage({ costUsd: 1 })
        await (await task.delegate('child', 'go')).result()
        await task.step('last', () => 1)
      },
      { name: 'parent' },
    )
    const harness = await createHarness({ agents: [parent, child], store: createMemoryStore() })
    const root = { ...olga, tenant: '*' }
    const scope = { tenant: 'acme' }
    await harness.engine.setBudget(root, { measure: 'costUsd', limit: 10, scope })
    const { id } = await harness.send('go', { agent: 'parent' })
    await harness.until(id, 'completed')
    await harness.engine.hold(olga, { scope: { all: true }, reason: 'panic', holdNew: true })
    const fork = await harness.engine.fork(alice, { taskId: id, at: 'last' })
    expect(fork).toMatchObject({ state: 'paused-by-client', children: [], usage: { costUsd: 0 } })
    expect(fork.holds).toHaveLength(1)
    expect(await harness.engine.budgets(root)).toMatchObject([{ spent: 1 }])
  })
})

describe('a fork is refused', () => {
  it.each([
    [
      'nowhere',
      'names no step of this task. It has: price#1 (record 3), park#1 (record 5), ship#1',
    ],
    ['', 'must name a step'],
  ])('at "%s"', async (at, problem) => {
    const harness = await createHarness({ agents: shop().agents })
    const id = await shipped(harness)
    const before = await harness.engine.list(olga)
    await expect(harness.engine.fork(alice, { taskId: id, at })).rejects.toThrow(problem)
    expect(await harness.engine.list(olga)).toEqual(before)
  })

  it('for a task of another caller, as if it did not exist', async () => {
    const harness = await createHarness({ agents: shop().agents })
    const taskId = await shipped(harness)
    for (const caller of [bob, mallory]) {
      const forking = harness.engine.fork(caller, { taskId, at: 'mail' })
      await expect(forking).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    }
    const { id } = await harness.engine.fork(olga, { taskId, at: 'mail', paused: true })
    expect(await harness.engine.get(alice, id)).toMatchObject({ principal: 'alice' })
  })

  it('F2: in a parallel branch, inside a step, at a name that several have, and beside a child', async () => {
    const agents = [
      running(async (task) => {
        const twice = async (name: string) => {
          await task.step(name, () => 1)
          await task.step('same', () => 1)
        }
        await Promise.all([twice('left'), twice('right')])
        await task.step('outer', () => task.step('inner', () => 1))
        const child = await task.delegate('child', 'go')
        await task.step('beside', () => 1)
        await child.result()
        await task.step('after', () => 1)
      }),
      running(async () => 'done', { name: 'child' }),
    ]
    const harness = await createHarness({ agents })
    const { id: taskId } = await harness.send('go')
    await harness.until(taskId, 'completed')
    const refused = async (at: string): Promise<string> =>
      harness.engine.fork(alice, { taskId, at }).then(
        () => 'forked',
        (error: Error) => error.message,
      )
    expect(await refused('left')).toContain('is in a parallel branch: step "right" would run again')
    expect(await refused('inner')).toContain('is inside step "outer"')
    expect(await refused('same')).toContain('names several: same#1')
    expect(await refused('beside')).toContain('while the sub-task')
    expect(await refused('outer')).toBe('forked')
    expect(await refused('after')).toBe('forked')
  })
})
