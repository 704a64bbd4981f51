import { describe, expect, it } from 'vitest'
import type { PauseMode } from '../../core/suspension.ts'
import type { AgentTask } from '../author/agent-task.ts'
import {
  aborted,
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  running,
  signal,
} from '../test-support/engine-harness.ts'

/** A task that sits in its first step until the test lets it go on. */
async function busy(
  after: (task: AgentTask) => Promise<unknown> = async () => undefined,
): Promise<{ harness: Harness; id: string; finish: () => void; done: ReturnType<typeof effects> }> {
  const done = effects()
  const started = signal()
  const finish = signal()
  const agent = running(async (task) => {
    await task.step('first', async () => {
      started.fire()
      await finish.promise
      done.note('first')
    })
    await after(task)
    await task.step('second', () => done.note('second'))
  })
  const harness = await createHarness({ agents: [agent] })
  const { id } = await harness.send('go')
  await started.promise
  return { harness, id, finish: finish.fire, done }
}

describe('a pause', () => {
  it('is answered when it committed, with what was asked for', async () => {
    const { harness, id, finish } = await busy()
    const answer = harness.engine.pause(alice, { taskId: id, reason: 'lunch' })
    await harness.settled()
    finish()
    const paused = await answer
    expect(paused).toMatchObject({ taskId: id, state: 'paused-by-client', reason: 'lunch' })
    expect(paused.handle).toMatch(/^suspend-/)
    expect(paused.pausing).toBeUndefined()
    expect((await harness.get(id)).suspension).toMatchObject({
      handle: paused.handle,
      epoch: 1,
      initiator: 'client',
      actor: { kind: 'client', id: 'alice' },
      mode: 'finish_step',
      pausedFrom: 'working',
    })
  })

  it('is answered truthfully after the grace time, and commits later under the same handle', async () => {
    const { harness, id, finish } = await busy()
    const answer = harness.engine.pause(alice, { taskId: id, graceMs: 500 })
    await harness.pass(499)
    const early = Promise.race([answer, Promise.resolve('not yet')])
    expect(await early).toBe('not yet')
    await harness.pass(1)
    const pausing = await answer
    expect(pausing).toMatchObject({ state: 'working', pausing: true })
    expect((await harness.get(id)).state).toBe('working')

    finish()
    const task = await harness.until(id, 'paused-by-client')
    expect(task.suspension?.handle).toBe(pausing.handle)
    expect(await harness.types(id)).toEqual(
      expect.arrayContaining(['pause-requested', 'paused', 'receipt']),
    )
  })

  it('lets nothing happen after the answer until the task is resumed', async () => {
    const { harness, id, finish, done } = await busy()
    const answer = harness.engine.pause(alice, { taskId: id })
    await harness.settled()
    finish()
    await answer
    await harness.pass(3_600_000)
    expect(done.list).toEqual(['first'])
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['first', 'second'])
  })

  it('is idempotent: the same handle, reason and time, and nothing is written', async () => {
    const { harness, id, finish } = await busy()
    const first = await harness.engine.pause(alice, { taskId: id, reason: 'one', graceMs: 0 })
    harness.clock.advance(5)
    const second = await harness.engine.pause(alice, { taskId: id, reason: 'two', graceMs: 0 })
    expect(second).toEqual(first)
    finish()
    await harness.until(id, 'paused-by-client')
    const log = await harness.log(id)
    const third = await harness.engine.pause(alice, { taskId: id, reason: 'three' })
    expect(third).toMatchObject({ handle: first.handle, reason: 'one', state: 'paused-by-client' })
    expect(await harness.log(id)).toEqual(log)
  })

  it('is upgraded by a stronger mode while it quiesces, never weakened', async () => {
    const interrupted = effects()
    const started = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.step('call', async ({ signal: abort, attempt }) => {
            abort.addEventListener('abort', () => interrupted.note('abort'))
            started.fire()
            if (attempt === 1) await aborted(abort)
          })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await started.promise
    const pause = (mode: PauseMode) => harness.engine.pause(alice, { taskId: id, mode, graceMs: 0 })
    const first = await pause('wait_for_completion')
    await pause('finish_step')
    await pause('wait_for_completion')
    expect((await harness.get(id)).pausing?.mode).toBe('finish_step')
    expect(interrupted.list).toEqual([])
    const last = await pause('interrupt_immediate')
    expect(last.handle).toBe(first.handle)
    const task = await harness.until(id, 'paused-by-client')
    expect(interrupted.list).toEqual(['abort'])
    expect(task.suspension).toMatchObject({ handle: first.handle, mode: 'interrupt_immediate' })
  })

  it('is withdrawn by a resume while it quiesces: the task never stopped', async () => {
    const { harness, id, finish, done } = await busy()
    const { handle } = await harness.engine.pause(alice, { taskId: id, graceMs: 0 })
    const answer = await harness.engine.resume(alice, { taskId: id, handle })
    expect(answer).toMatchObject({ handle, previousState: 'working', state: 'working' })
    finish()
    const task = await harness.until(id, 'completed')
    expect(done.list).toEqual(['first', 'second'])
    expect(task.epoch).toBe(0)
    expect(await harness.types(id)).not.toContain('paused')
  })

  it('gives way to a cancel that comes first, and its caller learns the final state', async () => {
    const { harness, id, finish } = await busy()
    const answer = harness.engine.pause(alice, { taskId: id, mode: 'wait_for_completion' })
    const refused = expect(answer).rejects.toMatchObject({ code: 'TASK_NOT_PAUSABLE' })
    await harness.settled()
    await harness.engine.cancel(alice, { taskId: id })
    finish()
    await refused
    await expect(harness.engine.pause(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSABLE',
      details: { state: 'canceled' },
    })
  })

  it('of a submitted task commits without running any agent code, and resume starts it', async () => {
    const done = effects()
    const gate = signal()
    const agent = running(
      async (task) => {
        done.note(task.text)
        await task.step('wait', () => gate.promise)
      },
      { concurrency: 1 },
    )
    const harness = await createHarness({ agents: [agent] })
    const first = await harness.send('first')
    const second = await harness.send('second')
    await harness.settled()
    expect((await harness.get(second.id)).state).toBe('submitted')
    const paused = await harness.engine.pause(alice, { taskId: second.id })
    expect(paused.state).toBe('paused-by-client')
    expect((await harness.get(second.id)).suspension?.pausedFrom).toBe('submitted')
    gate.fire()
    await harness.until(first.id, 'completed')
    await harness.settled()
    expect(done.list).toEqual(['first'])

    await harness.engine.resume(alice, { taskId: second.id })
    await harness.until(second.id, 'completed')
    expect(done.list).toEqual(['first', 'second'])
  })

  it('in the back-off of a retry commits at once, and the retry follows the resume', async () => {
    const attempts: number[] = []
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const once = ({ attempt }: { attempt: number }) => {
            attempts.push(attempt)
            if (attempt === 1) throw new Error('flaky')
          }
          await task.step('flaky', once, { retry: { attempts: 1, backoffMs: 1_000 } })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.settled()
    expect(attempts).toEqual([1])
    const paused = await harness.engine.pause(alice, { taskId: id })
    expect(paused.state).toBe('paused-by-client')
    await harness.pass(10_000)
    expect(attempts).toEqual([1])
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(attempts).toEqual([1, 2])
  })

  it('with conditions is armed from its acceptance on: an event while it quiesces wakes it at once', async () => {
    const { harness, id, finish } = await busy()
    await harness.emit('go.on')
    await harness.engine.pause(alice, {
      taskId: id,
      conditions: { onEvent: 'go.on' },
      graceMs: 0,
    })
    finish()
    await harness.until(id, 'paused-by-client')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-client')
    await harness.emit('go.on')
    await harness.until(id, 'completed')
  })

  it('with a timeout counts from its commit, and "fail" ends the task', async () => {
    const { harness, id, finish } = await busy()
    const conditions = { timeout: { durationMinutes: 1, onTimeout: 'fail' } } as const
    const answer = harness.engine.pause(alice, { taskId: id, reason: 'audit', conditions })
    await harness.pass(5_000)
    finish()
    const paused = await answer
    expect(paused.deadlineAt).toBe(harness.clock.now() + 60_000)
    await harness.pass(60_000)
    const task = await harness.until(id, 'failed')
    expect(JSON.stringify(task.statusMessage?.parts)).toContain('deadline')
  })

  it('makes a question the agent reaches while quiescing wait for the resume', async () => {
    const { harness, id, finish } = await busy((task) => task.ask('Which?'))
    const paused = harness.engine.pause(alice, { taskId: id })
    await harness.settled()
    finish()
    expect((await paused).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'input-required')
  })

  it('is refused in a state that waits for an answer, and for a parked task', async () => {
    const { harness, id, finish } = await busy((task) => task.ask('Which?'))
    finish()
    await harness.until(id, 'input-required')
    await expect(harness.engine.pause(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSABLE',
      details: { state: 'input-required' },
    })
  })

  it('is refused for an agent that has it switched off', async () => {
    const harness = await createHarness({
      agents: [
        running((task) => task.park({ reason: 'x' }).then(() => undefined), { pause: false }),
      ],
    })
    const { id } = await harness.send('go')
    await expect(harness.engine.pause(alice, { taskId: id })).rejects.toMatchObject({
      code: 'NOT_OFFERED',
    })
  })

  it('taken back with input before it stopped hands the input to the code behind the running step, warm or cold', async () => {
    const look = async (task: AgentTask): Promise<void> => {
      await task.artifact({ name: 'seen', data: task.wake?.input ?? null })
      await task.park({ reason: 'a look from outside' })
    }
    const { harness, id, finish } = await busy(look)
    const { handle } = await harness.engine.pause(alice, { taskId: id, reason: 'why', graceMs: 0 })
    const resumed = await harness.engine.resume(alice, { taskId: id, handle, input: { go: 'on' } })
    expect(resumed).toMatchObject({ previousState: 'working', hadResumeInput: true })
    finish()
    expect(dataOf(await harness.until(id, 'paused-by-agent'), 'seen')).toEqual({ go: 'on' })
    const wake = (await harness.get(id)).wake
    expect(wake).toMatchObject({ handle, cause: 'explicit_resume', input: { go: 'on' } })

    // A run that is rebuilt sees the same at the same place.
    const next = await harness.recover()
    await next.engine.resume(alice, { taskId: id })
    expect(dataOf(await next.until(id, 'completed'), 'seen')).toEqual({ go: 'on' })
  })

  it('taken back without input leaves the wake as it was', async () => {
    const { harness, id, finish } = await busy(async (task) => {
      await task.artifact({ name: 'seen', data: task.wake === undefined })
    })
    await harness.engine.pause(alice, { taskId: id, graceMs: 0 })
    const resumed = await harness.engine.resume(alice, { taskId: id })
    expect(resumed).toMatchObject({ hadResumeInput: false, continueTranscript: true })
    finish()
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toBe(true)
  })

  it('in the dialect of Bindu also stops a question, and resume brings the same question back', async () => {
    const { harness, id, finish } = await busy(async (task) => {
      const { text } = await task.ask('Which?')
      await task.artifact({ name: 'answer', data: text })
    })
    finish()
    const asking = await harness.until(id, 'input-required')
    await harness.engine.pause(alice, { taskId: id }, { evenInputRequired: true })
    expect((await harness.get(id)).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    const again = await harness.get(id)
    expect(again.state).toBe('input-required')
    expect(again.question).toEqual(asking.question)
    await harness.tell(id, 'the blue one')
    expect(dataOf(await harness.until(id, 'completed'), 'answer')).toBe('the blue one')
  })
})
