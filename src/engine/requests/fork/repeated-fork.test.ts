/** F4 of `fork-task.ts`: what a request with the same key is answered when the first one was long ago. */
import { describe, expect, it } from 'vitest'
import {
  alice,
  createHarness,
  echo,
  effects,
  type HarnessOptions,
  running,
} from '../../test-support/engine-harness.ts'

/** A parked task and a completed fork of it. `repeat` sends the request of the fork again. */
async function forked(options: HarnessOptions['options'] = {}) {
  const done = effects()
  const shop = running(async (task) => {
    await task.step('check', () => 7)
    const { input } = await task.park({ reason: 'may it be shipped?' })
    await task.step('ship', () => done.note(`shipped, ${input}`))
    await task.step('check', () => 8)
  })
  const harness = await createHarness({ agents: [shop], options })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  const request = { taskId: id, at: 'check', idempotencyKey: 'once' }
  const fork = await harness.engine.fork(alice, request)
  await harness.until(fork.id, 'paused-by-agent')
  await harness.engine.resume(alice, { taskId: fork.id, input: 'yes' })
  await harness.until(fork.id, 'completed')
  const repeat = () => harness.engine.fork(alice, request)
  return { harness, id, fork, done, repeat }
}

describe('a repeated fork', () => {
  it('F4: is the same task when both requests come at once, also for the last place', async () => {
    const { harness, id } = await forked({ storedTasks: 3 })
    const twice = { taskId: id, at: 'check', idempotencyKey: 'twice' }
    const [one, other] = await Promise.all([
      harness.engine.fork(alice, twice),
      harness.engine.fork(alice, twice),
    ])
    expect(one.id).toBe(other.id)
    const third = { taskId: id, at: 'check', idempotencyKey: 'third' }
    await expect(harness.engine.fork(alice, third)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
  })

  it('F4: with other content is refused, also when both requests come at once', async () => {
    const { harness, id } = await forked()
    const request = { taskId: id, at: 'check', idempotencyKey: 'twice' }
    const both = await Promise.allSettled([
      harness.engine.fork(alice, request),
      harness.engine.fork(alice, { ...request, input: 'other' }),
    ])
    const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(refused).toEqual(['IDEMPOTENCY_KEY_REUSED'])
  })

  it('F4: does not pass a park of the code that gives the reason of a fork', async () => {
    let reason = 'may it be shipped?'
    const done = effects()
    const shop = running(async (task) => {
      await task.step('check', () => 7)
      await task.park({ reason })
      await task.step('ship', () => done.note('shipped'))
    })
    const harness = await createHarness({ agents: [shop] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    reason = `forked from task ${id} at step "check"`
    const request = { taskId: id, at: 'check', idempotencyKey: 'once' }
    const fork = await harness.engine.fork(alice, request)
    await harness.until(fork.id, 'paused-by-agent')
    expect(await harness.engine.fork(alice, request)).toMatchObject({ suspension: { reason } })
    await harness.settled()
    expect(done.list).toEqual([])
  })

  it('F4: is the task that was made when that one took the last place', async () => {
    const { fork, repeat } = await forked({ storedTasks: 2 })
    expect(await repeat()).toMatchObject({ id: fork.id, state: 'completed' })
  })

  it('F4: is the task that was made when the name of the fork point has become ambiguous', async () => {
    const { harness, id, fork, repeat } = await forked()
    await harness.engine.resume(alice, { taskId: id, input: 'yes' })
    await harness.until(id, 'completed')
    expect(await repeat()).toMatchObject({ id: fork.id, state: 'completed' })
  })

  it('F4: is the task that was made when its agent is gone', async () => {
    const { harness, fork, repeat } = await forked()
    await harness.engine.replaceAgents([echo])
    expect(await repeat()).toMatchObject({ id: fork.id, state: 'completed' })
  })

  it('F4: is what is left of a task that retention has removed, and does not run again', async () => {
    const { harness, id, fork, done, repeat } = await forked({ tasksForMs: 1_000 })
    await harness.pass(10_000)
    expect(await harness.engine.prune()).toMatchObject({ tasks: 1 })
    const { history, ...remains } = await repeat()
    expect(remains).toMatchObject({ id: fork.id, contextId: fork.contextId, state: 'completed' })
    expect(history).toMatchObject([{ taskId: fork.id, parts: [{ text: 'go' }] }])
    await harness.settled()
    expect(done.list).toEqual(['shipped, yes'])
    expect((await harness.engine.list(alice)).tasks.map((task) => task.id)).toEqual([id])
  })
})
